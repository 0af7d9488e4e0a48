// SPDX-License-Identifier: Apache-2.0
// Rebuilds stripes in order, a few at a time, and holds their locks until they are committed. So a
// stripe is either below the watermark and kept up to date, or not rebuilt yet.
//
// Locks: one mutex for a step and for changes of members (pause()), taken before all other locks of
// an array. A step then takes exclusive locks of a group of stripes, and commits.
#pragma once
#include <cstdint>
#include <mutex>

#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"

namespace calpe::array {

class ChunkGroup;

class Rebuild {
 public:
  Rebuild(SharedState& shared, Log& log, StripeLoader& loader);

  // Like Array::rebuild_step().
  Result<RebuildProgress> step(std::uint64_t bytes);
  // No step runs while the lock is held.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(mutex_); }

 private:
  Status rebuild_stripes(std::uint64_t first, std::uint64_t end, std::uint64_t roles,
                         std::uint64_t& bytes_read);
  void add_stripe(std::uint64_t stripe, std::uint64_t roles, ChunkGroup& group);
  Status finish_step(RebuildProgress& progress);

  SharedState& shared_;
  const MemberLayout& layout_;
  Roster& roster_;
  Index& index_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  std::mutex mutex_;
};

}  // namespace calpe::array
