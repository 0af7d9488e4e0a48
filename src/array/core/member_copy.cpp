// SPDX-License-Identifier: Apache-2.0
#include "array/core/member_copy.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

// A group is read, written and committed together; other users of its stripes wait.
constexpr std::uint64_t group_bytes_most = std::uint64_t{16} << 20U;  // of stripe buffers

std::uint64_t stripes_of_group(const MemberLayout& layout) {
  const std::uint64_t all = std::uint64_t{layout.chunk_bytes} * layout.roles();
  return std::clamp<std::uint64_t>(group_bytes_most / all, 1, 64);
}

}  // namespace

struct MemberCopy::Copied {
  StripeAt at;
  BufferStock::Lease buffer;
  std::vector<std::uint64_t> checks = {};
};

MemberCopy::MemberCopy(SharedState& shared, Log& log, StripeLoader& loader, Rebuild& rebuild)
    : layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      stock_(shared.stock),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader),
      rebuild_(rebuild) {}

Status MemberCopy::put_checksums(unsigned role, const Copied& one) {
  const std::uint64_t bit = std::uint64_t{1} << role;
  return log_.put([&](Batch& batch) {
    if (!batch.fits(RecordKind::chunk, bit)) return false;
    batch.put_found({.kind = RecordKind::chunk,
                     .column = 0,
                     .slot = one.at.slot,
                     .stripe = one.at.stripe,
                     .roles = bit,
                     .checks = one.checks});
    batch.set_needs_flush();
    return true;
  });
}

Status MemberCopy::copy_group(const SuccessorAt& to, std::span<Copied> group) {
  std::vector<StripeLoad> loads;
  for (const Copied& one : group) {
    loads.push_back({.at = one.at, .buffer = &*one.buffer});
  }
  loader_.load_all(loads);
  std::vector<MemberRequest> requests;
  for (std::size_t i = 0; i < group.size(); ++i) {
    // A lost column stays lost: it gets no checksum, so reading it fails.
    const Status& loaded = loads[i].result;
    if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
    Copied& one = group[i];
    StripeBuffer& buffer = *one.buffer;
    const unsigned shard = layout_.shard_of(to.role, one.at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const bool is_good = buffer.states[buffer.at(shard, column)] == BlockState::good;
      const BlockPlace place{to.role, one.at.stripe, one.at.slot, column};
      one.checks.push_back(is_good ? check_.of(place, buffer.block(shard, column)) : unknown_check);
    }
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = to.place;
    request.offset = layout_.block_at(one.at.slot, 0);
    request.bytes = buffer.blocks(shard, 0, layout_.columns);
    request.is_past_cache = true;
    requests.push_back(request);
  }
  roster_.run_on_successor(to, requests);
  for (const Copied& one : group) {
    CALPE_CHECK(put_checksums(to.role, one));
  }
  return Done{};
}

Status MemberCopy::copy_stripes(const SuccessorAt& to, std::uint64_t first, std::uint64_t end,
                                std::uint64_t& bytes_read) {
  while (first < end && roster_.successor() == to) {
    const std::uint64_t group_end = std::min(end, first + stripes_of_group(layout_));
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    std::vector<Copied> group;
    for (std::uint64_t stripe = first; stripe < group_end; ++stripe) {
      locks.emplace_back(stripes_.lock_of(stripe));
      const StripeAt at = stripes_.at(stripe);
      if (at.slot == no_slot) continue;
      group.push_back({.at = at, .buffer = stock_.take()});
      StripeBuffer& buffer = *group.back().buffer;
      const unsigned shard = layout_.shard_of(to.role, stripe);
      for (std::uint32_t column = 0; column < layout_.columns; ++column) {
        buffer.needs[buffer.at(shard, column)] = 1;
      }
    }
    // Blocks in memory reach their slots on both disks before the chunk is copied.
    CALPE_CHECK(log_.commit());
    CALPE_CHECK(copy_group(to, group));
    CALPE_CHECK(log_.commit());
    bytes_read += group.size() * layout_.chunk_bytes;
    first = group_end;
  }
  return Done{};
}

// The successor has all that the member has, durably, and its log is empty as that of the member.
// If power is lost while the superblocks are written, the newest one decides, and both disks have
// everything.
Status MemberCopy::take_over(Log::Locked& log, const SuccessorAt& to) {
  std::vector<SparePlace>& spares = roster_.spares();
  const auto spare = std::find_if(spares.begin(), spares.end(),
                                  [&](const SparePlace& one) { return one.place == to.place; });
  if (spare == spares.end()) return Done{};
  RoleRecord record = roster_.record(to.role);
  record.uuid = spare->uuid;
  // Writes look for a successor before they look for the place, so none of them misses both.
  roster_.copy(to.role) = spare->copy;
  roster_.set_place(to.role, to.place);
  roster_.set(to.role, record);
  roster_.end_successor();
  spares.erase(spare);
  roster_.set_changed();
  return log.settle_members();
}

Status MemberCopy::finish_step(const SuccessorAt& to, std::uint64_t watermark,
                               RebuildProgress& progress) {
  Log::Locked log(log_);
  CALPE_CHECK(log.commit());
  const auto is_there = [&] {
    return roster_.successor() == to && roster_.state(to.role) == MemberState::in;
  };
  if (is_there()) roster_.set_successor_watermark(watermark);
  CALPE_CHECK(log.checkpoint());
  if (!is_there()) {
    return make_error(ErrorCode::io, "member ", to.role,
                      " is not replaced: ", roster_.why_no_successor());
  }
  progress.stripes_done = watermark;
  if (watermark == layout_.stripes) CALPE_CHECK(take_over(log, to));
  return Done{};
}

Result<RebuildProgress> MemberCopy::step(std::uint64_t bytes) {
  const auto paused = rebuild_.pause();
  const SuccessorAt to = roster_.successor();
  RebuildProgress progress;
  progress.stripes = layout_.stripes;
  progress.stripes_done = layout_.stripes;
  if (to.role == no_role) return progress;
  const std::uint64_t first = roster_.successor_watermark();
  const std::uint64_t end =
      std::min(layout_.stripes, first + std::max<std::uint64_t>(1, bytes / layout_.chunk_bytes));
  CALPE_CHECK(copy_stripes(to, first, end, progress.bytes_read));
  CALPE_CHECK(finish_step(to, end, progress));
  progress.is_complete = end == layout_.stripes;
  return progress;
}

}  // namespace calpe::array
