// SPDX-License-Identifier: Apache-2.0
#include "array/core/member_copy.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "array/core/chunk_group.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

MemberCopy::MemberCopy(SharedState& shared, Log& log, StripeLoader& loader, Rebuild& rebuild)
    : shared_(shared),
      layout_(shared.layout),
      roster_(shared.roster),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader),
      rebuild_(rebuild) {}

Status MemberCopy::copy_stripes(const SuccessorAt& to, std::uint64_t first, std::uint64_t end,
                                std::uint64_t& bytes_read) {
  while (first < end && roster_.successor() == to) {
    const std::uint64_t group_end = std::min(end, first + ChunkGroup::stripes_most(layout_));
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    ChunkGroup group(shared_, log_, loader_);
    for (std::uint64_t stripe = first; stripe < group_end; ++stripe) {
      locks.emplace_back(stripes_.lock_of(stripe));
      const StripeAt at = stripes_.at(stripe);
      if (at.slot != no_slot) group.add(at, std::uint64_t{1} << to.role);
    }
    // Blocks in memory reach their slots on both disks before the chunk is copied.
    CALPE_CHECK(log_.commit());
    CALPE_CHECK(group.load());
    std::vector<MemberRequest> writes = group.writes();
    for (MemberRequest& write : writes)
      write.member = to.place;
    roster_.run_on_successor(to, writes);
    CALPE_CHECK(group.put_checksums());
    CALPE_CHECK(log_.commit());
    bytes_read += group.stripe_count() * layout_.chunk_bytes;
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
