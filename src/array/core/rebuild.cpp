// SPDX-License-Identifier: Apache-2.0
#include "array/core/rebuild.hpp"

#include <algorithm>
#include <bit>
#include <shared_mutex>
#include <utility>

#include "base/try.hpp"

namespace calpe::array {

namespace {

// A group is read, decoded, written and committed together; other users of its stripes wait.
constexpr std::uint64_t group_bytes_most = std::uint64_t{16} << 20U;  // on all members

std::uint64_t stripes_of_group(const MemberLayout& layout) {
  const std::uint64_t all = std::uint64_t{layout.chunk_bytes} * layout.roles();
  return std::clamp<std::uint64_t>(group_bytes_most / all, 1, 64);
}

}  // namespace

struct Rebuild::RebuiltStripe {
  StripeAt at;
  std::uint64_t lacking = 0;  // roles whose chunk is rebuilt
  BufferStock::Lease buffer;
  std::vector<std::uint64_t> checks = {};  // of the chunks, by role
};

Rebuild::Rebuild(SharedState& shared, Log& log, StripeLoader& loader)
    : layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      index_(shared.index),
      stock_(shared.stock),
      stripes_(shared.stripes),
      log_(log),
      loader_(loader) {}

void Rebuild::add_stripe(std::uint64_t stripe, std::uint64_t roles,
                         std::vector<RebuiltStripe>& group) {
  const StripeAt at = stripes_.at(stripe);
  if (at.slot == no_slot) return;
  std::uint64_t lacking = 0;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    const bool is_asked = (roles >> role & 1U) != 0 && roster_.is_live(role);
    if (is_asked && !roster_.has(role, stripe)) lacking |= std::uint64_t{1} << role;
  }
  if (lacking == 0) return;
  group.push_back({.at = at, .lacking = lacking, .buffer = stock_.take()});
  StripeBuffer& buffer = *group.back().buffer;
  for (std::uint64_t left = lacking; left != 0; left &= left - 1) {
    const unsigned shard = layout_.shard_of(static_cast<unsigned>(std::countr_zero(left)), stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      buffer.needs[buffer.at(shard, column)] = 1;
    }
  }
}

Status Rebuild::rebuild_group(std::vector<RebuiltStripe>& group) {
  std::vector<StripeLoad> loads;
  loads.reserve(group.size());
  for (const RebuiltStripe& one : group) {
    loads.push_back({.at = one.at, .buffer = &*one.buffer});
  }
  loader_.load_all(loads);
  for (StripeLoad& load : loads) {
    // A lost column stays lost: it gets no checksum, so reading it fails.
    const bool is_fatal = !load.result && load.result.error().code != ErrorCode::corrupt;
    if (is_fatal) return std::move(load.result);
  }
  std::vector<MemberRequest> requests;
  for (RebuiltStripe& one : group) {
    StripeBuffer& buffer = *one.buffer;
    for (std::uint64_t left = one.lacking; left != 0; left &= left - 1) {
      const auto role = static_cast<unsigned>(std::countr_zero(left));
      const unsigned shard = layout_.shard_of(role, one.at.stripe);
      for (std::uint32_t column = 0; column < layout_.columns; ++column) {
        const bool is_good = buffer.states[buffer.at(shard, column)] == BlockState::good;
        const BlockPlace place{role, one.at.stripe, one.at.slot, column};
        one.checks.push_back(is_good ? check_.of(place, buffer.block(shard, column))
                                     : unknown_check);
      }
      MemberRequest request;
      request.call = MemberCall::write;
      request.member = role;
      request.offset = layout_.block_at(one.at.slot, 0);
      request.bytes = buffer.blocks(shard, 0, layout_.columns);
      request.is_past_cache = true;
      requests.push_back(request);
    }
  }
  roster_.run(requests);
  for (const RebuiltStripe& one : group) {
    CALPE_CHECK(put_checksums(one));
  }
  return Done{};
}

// The checksums go through the log.
Status Rebuild::put_checksums(const RebuiltStripe& one) {
  return log_.put([&](Batch& batch) {
    if (!batch.fits(RecordKind::chunk, one.lacking)) return false;
    batch.put_found({.kind = RecordKind::chunk,
                     .column = 0,
                     .slot = one.at.slot,
                     .stripe = one.at.stripe,
                     .roles = one.lacking,
                     .checks = one.checks});
    batch.set_needs_flush();
    return true;
  });
}

Status Rebuild::rebuild_stripes(std::uint64_t first, std::uint64_t end, std::uint64_t roles,
                                std::uint64_t& bytes_read) {
  while (first < end) {
    const std::uint64_t group_end = std::min(end, first + stripes_of_group(layout_));
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    std::vector<RebuiltStripe> group;
    for (std::uint64_t stripe = first; stripe < group_end; ++stripe) {
      locks.emplace_back(stripes_.lock_of(stripe));
      add_stripe(stripe, roles, group);
    }
    CALPE_CHECK(rebuild_group(group));
    bytes_read += group.size() * layout_.stripe_bytes();
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
