// SPDX-License-Identifier: Apache-2.0
#include "array/core/member_copy.hpp"

#include <algorithm>
#include <mutex>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

MemberCopy::MemberCopy(SharedState& shared, Log& log, StripeLoader& loader, Rebuild& rebuild)
    : layout_(shared.layout),
      roster_(shared.roster),
      table_(shared.table),
      stock_(shared.stock),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader),
      rebuild_(rebuild),
      chunks_(shared),
      sweep_(shared, loader) {}

bool MemberCopy::is_there() const {
  return roster_.successor() == to_ && roster_.state(to_.role) == MemberState::in;
}

// --- one stripe ---

bool MemberCopy::want(SweptStripe& one) {
  one.roles = is_there() ? std::uint64_t{1} << to_.role : 0;
  if (one.roles != 0) chunks_.want(one.at, one.roles, *one.buffer);
  return one.roles != 0;
}

void MemberCopy::add_writes(SweptStripe& one, std::vector<MemberRequest>& /*to_roles*/,
                            std::vector<MemberRequest>& to_successor) {
  chunks_.add_writes(one.at, one.roles, *one.buffer, to_successor);
  to_successor.back().member = to_.place;
}

Status MemberCopy::end_writes(std::span<SweptStripe* const> written) {
  const Log::Locked log(log_);
  for (const SweptStripe* const one : written) {
    if (is_there()) table_.touch(to_.role, layout_.table_index(one->at.slot, 0), layout_.columns);
  }
  return Done{};
}

Status MemberCopy::do_alone(std::uint64_t stripe) {
  const std::unique_lock lock(stripes_.lock_of(stripe));
  SweptStripe one{.at = stripes_.at(stripe), .buffer = stock_.take()};
  if (one.at.slot == no_slot || !want(one)) return Done{};
  // A lost block is no error here: it does not match its checksum on the new disk, either.
  Status loaded = loader_.load(one.at, *one.buffer);
  if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
  std::vector<MemberRequest> unused;
  std::vector<MemberRequest> writes;
  add_writes(one, unused, writes);
  roster_.run_on_successor(to_, writes);
  SweptStripe* const written = &one;
  return end_writes(std::span(&written, 1));
}

// --- a step ---

void MemberCopy::begin(const SuccessorAt& to) {
  to_ = to;
  sweep_.restart(roster_.successor_slots());
  copies_begun_ = roster_.copies_begun();
  stripes_not_durable_ = 0;
}

// The successor has all that the member has, durably, and its log is empty as that of the member.
// If power is lost while the superblocks are written, the newest one decides, and both disks have
// everything.
Status MemberCopy::take_over(Log::Locked& log) {
  std::vector<SparePlace>& spares = roster_.spares();
  const auto spare = std::find_if(spares.begin(), spares.end(),
                                  [&](const SparePlace& one) { return one.place == to_.place; });
  if (spare == spares.end()) return Done{};
  RoleRecord record = roster_.record(to_.role);
  record.uuid = spare->uuid;
  // Writes look for a successor before they look for the place, so none of them misses both.
  roster_.copy(to_.role) = spare->copy;
  roster_.set_place(to_.role, to_.place);
  roster_.set(to_.role, record);
  roster_.set_errors(to_.role, {});
  roster_.end_successor();
  spares.erase(spare);
  roster_.set_changed();
  return log.settle_members();
}

// Nothing that was read is left to be written.
Status MemberCopy::make_durable() {
  const std::uint64_t slots_done = sweep_.slot();
  std::vector<MemberRequest> flush(1);
  flush[0].call = MemberCall::flush;
  flush[0].member = to_.place;
  roster_.run_on_successor(to_, flush);  // not under the lock, because it may take long
  Log::Locked log(log_);
  CALPE_CHECK(log.commit());
  CALPE_CHECK(log.checkpoint([&] {
    if (is_there()) roster_.set_successor_slots(slots_done);
  }));
  stripes_not_durable_ = 0;
  if (!is_there()) {
    return make_error(ErrorCode::io, "member ", to_.role,
                      " is not replaced: ", roster_.why_no_successor());
  }
  return slots_done == layout_.slots ? take_over(log) : Done{};
}

Result<RebuildProgress> MemberCopy::step(std::uint64_t bytes, Progress durable) {
  const auto paused = rebuild_.pause();
  const SuccessorAt to = roster_.successor();
  RebuildProgress progress;
  progress.stripes = layout_.stripes;
  progress.stripes_done = layout_.stripes;
  if (to.role == no_role) return progress;
  if (to != to_ || copies_begun_ != roster_.copies_begun()) begin(to);
  CALPE_TRY(const std::uint64_t stripes, sweep_.advance(layout_.slots, bytes, *this));
  stripes_not_durable_ += stripes;
  progress.bytes_read = stripes * layout_.chunk_bytes;
  const bool is_end = sweep_.slot() == layout_.slots;
  const bool is_due = stripes_not_durable_ * layout_.chunk_bytes >= progress_bytes_most;
  if (is_end || is_due || durable == Progress::now || !is_there()) {
    CALPE_CHECK(sweep_.drain(*this));
    CALPE_CHECK(make_durable());
  }
  progress.stripes_done = std::min(sweep_.slot(), layout_.stripes);
  progress.is_complete = is_end;
  return progress;
}

}  // namespace calpe::array
