// SPDX-License-Identifier: Apache-2.0
// Rebuilding: stripes in order, a few at a time under their locks until what was rebuilt is
// committed, so a stripe is either below the watermark and kept up to date, or is still to come.
#include <algorithm>
#include <bit>

#include "base/try.hpp"
#include "store/array/array_core.hpp"

namespace calpe::store::array {

namespace {

constexpr std::uint64_t stripes_of_group = 16;

}  // namespace

Status Core::rebuild_stripe(std::uint64_t stripe, std::uint64_t roles) {
  const StripeAt at{stripe, slots_[stripe]};
  if (at.slot == no_slot) return Done{};
  std::uint64_t lacking = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    const bool is_asked = (roles >> role & 1U) != 0 && roster_.is_live(role);
    if (is_asked && !roster_.has(role, stripe)) lacking |= std::uint64_t{1} << role;
  }
  if (lacking == 0) return Done{};
  const BufferStock::Lease buffer = stock_.take();
  for (std::uint64_t left = lacking; left != 0; left &= left - 1) {
    const unsigned shard = layout_.shard_of(static_cast<unsigned>(std::countr_zero(left)), stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      buffer->needs[buffer->at(shard, column)] = 1;
    }
  }
  // A column that is lost stays lost: it gets no checksum, and whoever reads it is told.
  Status loaded = load(at, *buffer);
  if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
  std::vector<MemberRequest> requests;
  std::vector<std::uint64_t> checks;
  for (std::uint64_t left = lacking; left != 0; left &= left - 1) {
    const auto role = static_cast<unsigned>(std::countr_zero(left));
    const unsigned shard = layout_.shard_of(role, stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const bool is_good = buffer->states[buffer->at(shard, column)] == BlockState::good;
      checks.push_back(
          is_good ? check_.of({role, stripe, at.slot, column}, buffer->block(shard, column))
                  : unknown_check);
    }
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = layout_.block_at(at.slot, 0);
    request.bytes = buffer->blocks(shard, 0, layout_.columns);
    request.is_past_cache = true;
    requests.push_back(request);
  }
  roster_.run(requests);
  for (;;) {
    CALPE_CHECK(failed());
    {
      const std::lock_guard overlay(overlay_mutex_);
      if (pending_->fits(RecordKind::chunk, lacking)) {
        pending_->put_checks({.kind = RecordKind::chunk,
                              .column = 0,
                              .slot = at.slot,
                              .stripe = stripe,
                              .roles = lacking,
                              .checks = checks});
        pending_->set_needs_flush();
        has_overlay_.store(true, std::memory_order_release);
        return Done{};
      }
    }
    CALPE_CHECK(commit());
  }
}

Status Core::rebuild_stripes(std::uint64_t first, std::uint64_t end, std::uint64_t roles,
                             std::uint64_t& bytes_read) {
  while (first < end) {
    const std::uint64_t group_end = std::min(end, first + stripes_of_group);
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    for (std::uint64_t stripe = first; stripe < group_end; ++stripe) {
      locks.emplace_back(lock_of(stripe));
      CALPE_CHECK(rebuild_stripe(stripe, roles));
      if (slots_[stripe] != no_slot) bytes_read += layout_.stripe_bytes();
    }
    CALPE_CHECK(commit());
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if ((roles >> role & 1U) != 0) roster_.set_watermark(role, group_end);
    }
    first = group_end;
  }
  return Done{};
}

Result<RebuildProgress> Core::rebuild_step(std::uint64_t bytes) {
  const std::lock_guard one_at_a_time(rebuild_mutex_);
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
  const std::lock_guard lock(commit_mutex_);
  CALPE_CHECK(commit_locked());
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
  CALPE_CHECK(checkpoint_locked());
  return progress;
}

}  // namespace calpe::store::array
