// SPDX-License-Identifier: Apache-2.0
#include "array/core/stripe_sweep.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/divide_up.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

// The buffers of one group; three groups are in memory. Disks need no longer requests, and the
// first and the last group of a rebuild are transferred alone.
constexpr std::uint64_t group_bytes_most = std::uint64_t{8} << 20U;
// A hard disk reads this in less time than it needs for a seek.
constexpr std::uint64_t gap_bytes_most = std::uint64_t{256} << 10U;

// Slots that one call passes, most of which may be free.
constexpr std::uint64_t slots_most = std::uint64_t{1} << 22U;

std::uint64_t group_stripes_most(const MemberLayout& layout) {
  const std::uint64_t stripe_bytes = std::uint64_t{layout.chunk_bytes} * layout.roles();
  return std::clamp<std::uint64_t>(group_bytes_most / stripe_bytes, 1, 64);
}

}  // namespace

StripeSweep::StripeSweep(SharedState& shared, StripeLoader& loader)
    : layout_(shared.layout),
      roster_(shared.roster),
      table_(shared.table),
      stock_(shared.stock),
      stripes_(shared.stripes),
      loader_(loader),
      order_(shared.layout, shared.stripes),
      unused_(gap_bytes_most),
      zeros_(gap_bytes_most) {
  std::fill(zeros_.span().begin(), zeros_.span().end(), std::byte{0});
}

// Free slots that no writer may use while they are written.
class StripeSweep::TakenSlots {
 public:
  explicit TakenSlots(FreeSlots& slots) : slots_(slots) {}
  ~TakenSlots() {
    for (const std::uint64_t slot : taken_)
      slots_.give(static_cast<std::uint32_t>(slot));
  }
  TakenSlots(const TakenSlots&) = delete;
  TakenSlots& operator=(const TakenSlots&) = delete;
  // Returns false if one of the slots [first, end) is in use.
  bool take(std::uint64_t first, std::uint64_t end) {
    taken_.reserve(taken_.size() + (end - first));
    for (; first < end; ++first) {
      if (!slots_.try_take(first)) return false;
      taken_.push_back(first);
    }
    return true;
  }

 private:
  FreeSlots& slots_;
  std::vector<std::uint64_t> taken_;
};

void StripeSweep::restart(std::uint64_t slot) {
  order_.reset();
  slot_ = slot;
  fetched_end_ = 0;
  slot_read_ = slot_written_ = slot;
  read_.clear();
  ready_.clear();
  alone_.clear();
}

// Reads the checksums of the slots that come next, of all members at once.
void StripeSweep::fetch_checksums(std::uint64_t end) {
  std::uint64_t stripe = 0;
  if (!order_.find(slot_, end, stripe) || slot_ < fetched_end_) return;
  const std::uint64_t first = layout_.table_index(static_cast<std::uint32_t>(slot_), 0);
  const std::uint64_t page = first / page_checksums;
  // A chunk may have checksums in two pages.
  const std::uint64_t page_end = std::min(layout_.table_pages, page + table_.fetch_most() + 1);
  table_.fetch(roster_.live_roles(), page, page_end);
  fetched_end_ = std::max(slot_ + 1, page_end * page_checksums / layout_.columns);
}

StripeSweep::Group StripeSweep::next_group(std::uint64_t end, std::uint64_t stripes,
                                           SweepWork& work, StripeLocks& locks) {
  Group group;
  const std::uint64_t group_end = std::min(end, std::max(fetched_end_, slot_ + 1));
  std::uint64_t stripe = 0;
  for (; group.size() < stripes && order_.find(slot_, group_end, stripe); ++slot_) {
    if (!locks.try_lock(stripe)) {
      alone_.push_back(stripe);
      continue;
    }
    const StripeAt at = stripes_.at(stripe);
    if (at.slot != slot_) continue;  // it moved, with all its bytes
    SweptStripe one{.at = at, .changes = stripes_.changes(stripe), .buffer = stock_.take()};
    if (!work.want(one)) continue;
    one.load = {.at = at, .buffer = &*one.buffer};
    loader_.begin(one.load, work.decodes());
    group.push_back(std::move(one));
  }
  return group;
}

// Stripes that can be written now: nothing changed since they were read.
std::vector<SweptStripe*> StripeSweep::lock_ready(const SweepWork& work, StripeLocks& locks) {
  std::vector<SweptStripe*> locked;
  for (SweptStripe& one : ready_) {
    const std::uint64_t stripe = one.at.stripe;
    if (one.is_good && !work.writes()) continue;
    const bool is_same = one.is_good && locks.try_lock(stripe) &&
                         stripes_.changes(stripe) == one.changes &&
                         (one.load.having & ~roster_.having(stripe)) == 0;
    if (is_same) {
      locked.push_back(&one);
    } else {
      alone_.push_back(stripe);
    }
  }
  return locked;
}

void StripeSweep::compute_all(Group& group, SweepWork& work) {
  for (SweptStripe& one : group) {
    try {
      one.is_good = loader_.end(one.load) && work.compute(one);
    } catch (const std::exception&) {
      // Requests use our buffers meanwhile. Without memory, the slow way reports the error.
    }
  }
}

std::span<std::byte> StripeSweep::gap(std::uint64_t before, std::uint64_t slot,
                                      const AlignedBytes& scratch) const noexcept {
  if (slot <= before + 1) return {};
  const std::uint64_t slots = slot - before - 1;
  if (slots > gap_bytes_most / layout_.chunk_bytes) return {};
  if (!layout_.is_run(before, slot)) return {};  // an index and checksums are in between
  return scratch.span().first(slots * layout_.chunk_bytes);
}

void StripeSweep::add_with_gap(const MemberRequest& request, std::span<std::byte> gap,
                               std::vector<MemberRequest>& to) const {
  // Only if it begins where the gap ends.
  const bool is_next = (request.offset - layout_.slots_at) % layout_.chunk_bytes == 0;
  if (!gap.empty() && is_next) {
    MemberRequest filler = request;
    filler.offset -= gap.size();
    filler.bytes = gap;
    to.push_back(filler);
  }
  to.push_back(request);
}

void StripeSweep::add_reads(const Group& next, Turn& turn) {
  for (const SweptStripe& one : next) {
    const std::span<std::byte> before = gap(slot_read_, one.at.slot, unused_);
    for (const MemberRequest& request : one.buffer->requests) {
      add_with_gap(request, before, turn.to_roles);
      turn.reads.push_back(turn.to_roles.size() - 1);
    }
    slot_read_ = one.at.slot;
  }
  for (MemberRequest& request : turn.to_roles)
    request.is_past_cache = true;
}

void StripeSweep::add_writes(std::span<SweptStripe* const> locked, SweepWork& work, Turn& turn,
                             TakenSlots& taken) {
  std::vector<MemberRequest> to_roles;
  std::vector<MemberRequest> to_successor;
  for (SweptStripe* const one : locked) {
    to_roles.clear();
    to_successor.clear();
    work.add_writes(*one, to_roles, to_successor);
    std::span<std::byte> before = gap(slot_written_, one->at.slot, zeros_);
    if (!before.empty() && !taken.take(slot_written_ + 1, one->at.slot)) before = {};
    for (const MemberRequest& request : to_roles)
      add_with_gap(request, before, turn.to_roles);
    for (const MemberRequest& request : to_successor)
      add_with_gap(request, before, turn.to_successor);
    slot_written_ = one->at.slot;
  }
}

// One turn: reads `next`, computes the group that was read before, and writes the one before that.
Status StripeSweep::turn(Group next, SweepWork& work, StripeLocks& locks) {
  const std::vector<SweptStripe*> locked = lock_ready(work, locks);
  TakenSlots taken(stripes_.free_slots());
  Turn requests;
  add_reads(next, requests);
  add_writes(locked, work, requests, taken);
  roster_.run_with(requests.to_roles, work.successor(), requests.to_successor,
                   [&] { compute_all(read_, work); });
  auto from = requests.reads.begin();
  for (const SweptStripe& one : next) {
    for (MemberRequest& request : one.buffer->requests)
      request = std::move(requests.to_roles[*from++]);
  }
  if (!locked.empty()) CALPE_CHECK(work.end_writes(locked));
  locks.unlock();
  ready_ = std::exchange(read_, std::move(next));
  CALPE_CHECK(do_rest_alone(work));
  return roster_.check();
}

Status StripeSweep::do_rest_alone(SweepWork& work) {
  for (; !alone_.empty(); alone_.pop_back())
    CALPE_CHECK(work.do_alone(alone_.back()));
  return Done{};
}

Result<std::uint64_t> StripeSweep::advance(std::uint64_t end, std::uint64_t bytes,
                                           SweepWork& work) {
  end = std::min(end, slot_ + slots_most);
  std::uint64_t left = std::max<std::uint64_t>(1, bytes / layout_.chunk_bytes);
  std::uint64_t stripes = 0;
  while (left != 0 && slot_ < end) {
    fetch_checksums(end);
    StripeLocks locks(stripes_);
    // Groups of equal size: a short one would be read with the write of a long one.
    const std::uint64_t groups = divide_up(left, group_stripes_most(layout_));
    Group next = next_group(end, divide_up(left, groups), work, locks);
    left -= next.size();
    stripes += next.size();
    CALPE_CHECK(turn(std::move(next), work, locks));
  }
  return stripes;
}

Status StripeSweep::drain(SweepWork& work) {
  while (!read_.empty() || !ready_.empty()) {
    StripeLocks locks(stripes_);
    CALPE_CHECK(turn({}, work, locks));
  }
  return do_rest_alone(work);
}

}  // namespace calpe::array
