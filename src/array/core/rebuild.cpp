// SPDX-License-Identifier: Apache-2.0
#include "array/core/rebuild.hpp"

#include <algorithm>
#include <shared_mutex>
#include <vector>

#include "array/core/chunk_group.hpp"
#include "base/try.hpp"

namespace calpe::array {

Rebuild::Rebuild(SharedState& shared, Log& log, StripeLoader& loader)
    : shared_(shared),
      layout_(shared.layout),
      roster_(shared.roster),
      index_(shared.index),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader) {}

void Rebuild::add_stripe(std::uint64_t stripe, std::uint64_t roles, ChunkGroup& group) {
  const StripeAt at = stripes_.at(stripe);
  if (at.slot == no_slot) return;
  std::uint64_t lacking = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    const bool is_asked = (roles >> role & 1U) != 0 && roster_.is_live(role);
    if (is_asked && !roster_.has(role, stripe)) lacking |= std::uint64_t{1} << role;
  }
  if (lacking != 0) group.add(at, lacking);
}

Status Rebuild::rebuild_stripes(std::uint64_t first, std::uint64_t end, std::uint64_t roles,
                                std::uint64_t& bytes_read) {
  while (first < end) {
    const std::uint64_t group_end = std::min(end, first + ChunkGroup::stripes_most(layout_));
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    ChunkGroup group(shared_, log_, loader_);
    for (std::uint64_t stripe = first; stripe < group_end; ++stripe) {
      locks.emplace_back(stripes_.lock_of(stripe));
      add_stripe(stripe, roles, group);
    }
    CALPE_CHECK(group.load());
    std::vector<MemberRequest> writes = group.writes();
    roster_.run(writes);
    CALPE_CHECK(group.put_checksums());
    bytes_read += group.stripe_count() * layout_.stripe_bytes();
    CALPE_CHECK(log_.commit());
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if ((roles >> role & 1U) != 0) roster_.set_watermark(role, group_end);
    }
    first = group_end;
  }
  return Done{};
}

// Makes the watermarks durable. A complete member becomes `in`.
Status Rebuild::finish_step(RebuildProgress& progress) {
  Log::Locked log(log_);
  CALPE_CHECK(log.commit());
  progress.is_complete = true;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.state(role) != MemberState::rebuilding) continue;
    progress.stripes_done = std::min(progress.stripes_done, roster_.watermark(role));
    if (roster_.watermark(role) < layout_.stripes) {
      progress.is_complete = false;
      continue;
    }
    RoleRecord record = roster_.record(role);
    record.by_missed = false;
    record.out_epoch = 0;
    record.watermark = 0;
    record.state = MemberState::in;
    roster_.set_in(role, record);
  }
  if (roster_.not_in_count() == 0) index_.clear_missed();
  return log.checkpoint();
}

Result<RebuildProgress> Rebuild::step(std::uint64_t bytes) {
  const std::lock_guard one_at_a_time(mutex_);
  RebuildProgress progress;
  progress.stripes = layout_.stripes;
  progress.stripes_done = layout_.stripes;
  std::uint64_t first = layout_.stripes;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.state(role) != MemberState::rebuilding) continue;
    first = std::min(first, roster_.watermark(role));
    progress.is_complete = false;
  }
  if (progress.is_complete) return progress;
  std::uint64_t roles = 0;
  std::uint64_t end =
      std::min(layout_.stripes, first + std::max<std::uint64_t>(1, bytes / layout_.chunk_bytes));
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.state(role) != MemberState::rebuilding) continue;
    if (roster_.watermark(role) == first) {
      roles |= std::uint64_t{1} << role;
    } else {
      end = std::min(end, roster_.watermark(role));
    }
  }
  CALPE_CHECK(rebuild_stripes(first, end, roles, progress.bytes_read));
  CALPE_CHECK(finish_step(progress));
  return progress;
}

}  // namespace calpe::array
