// SPDX-License-Identifier: Apache-2.0
// Rebuilds the stripes that members lack, in the order of their slots (stripe_sweep.hpp). A stripe
// is complete as soon as its chunk is written: from then on writers keep it up to date. That it is
// complete becomes durable with a superblock; after a crash, the stripes since then are rebuilt
// again. So the checksums of chunks need not go through the log.
//
// Locks: one mutex for a step and for changes of members (pause()), taken before all other locks of
// an array. A step then takes exclusive locks of stripes, and that of the log.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/chunk_writer.hpp"
#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/stripe_sweep.hpp"

namespace calpe::array {

class Rebuild final : private SweepWork {
 public:
  Rebuild(SharedState& shared, Log& log, StripeLoader& loader);

  // Like Array::rebuild_step().
  Result<RebuildProgress> step(std::uint64_t bytes, Progress progress);
  // No step runs while the lock is held.
  std::unique_lock<std::mutex> pause() { return std::unique_lock(mutex_); }

 private:
  bool want(SweptStripe& one) override;
  bool decodes() const override { return true; }
  bool writes() const override { return true; }
  bool compute(SweptStripe& one) override;
  void add_writes(SweptStripe& one, std::vector<MemberRequest>& to_roles,
                  std::vector<MemberRequest>& to_successor) override;
  Status end_writes(std::span<SweptStripe* const> written) override;
  Status do_alone(std::uint64_t stripe) override;

  std::uint64_t rebuilding_roles() const;
  std::uint64_t lacking(std::uint64_t stripe) const;
  void begin(std::uint64_t roles);
  Status rebuild_rest();
  Status make_durable(bool is_end);

  const MemberLayout& layout_;
  Roster& roster_;
  Index& index_;
  BufferStock& stock_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  std::mutex mutex_;  // guards all below
  ChunkWriter chunks_;
  StripeSweep sweep_;
  std::uint64_t rebuilds_begun_ = 0;       // Roster::rebuilds_begun() when the sweep began
  std::uint64_t stripes_not_durable_ = 0;  // rebuilt since the last superblock
};

}  // namespace calpe::array
