// SPDX-License-Identifier: Apache-2.0
// Scrub: verifies all blocks in the order of their slots (stripe_sweep.hpp), rewrites wrong ones,
// and counts them per member. A stripe with a wrong block is read again alone, and repaired.
//
// Locks: one mutex for a step, taken before all other locks of an array but that of a rebuild. A
// step then takes exclusive locks of stripes, then that of the log.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/stripe_sweep.hpp"
#include "array/core/table_scrub.hpp"

namespace calpe::array {

class Scrub final : private SweepWork {
 public:
  Scrub(SharedState& shared, Log& log, StripeLoader& loader);

  // Like Array::scrub_step().
  Result<ScrubProgress> step(std::uint64_t position, std::uint64_t bytes);

 private:
  bool want(SweptStripe& one) override;
  bool decodes() const override { return false; }
  bool writes() const override { return false; }
  bool compute(SweptStripe& one) override;
  void add_writes(SweptStripe& /*one*/, std::vector<MemberRequest>& /*to_roles*/,
                  std::vector<MemberRequest>& /*to_successor*/) override {}
  Status end_writes(std::span<SweptStripe* const> /*written*/) override { return Done{}; }
  Status do_alone(std::uint64_t stripe) override;

  Result<std::uint64_t> contradicting_columns(StripeBuffer& buffer);
  Status sweep_to(std::uint64_t end_slot, std::uint64_t bytes);
  Status harden(const CountByRole& rewritten, ScrubProgress& progress);

  const Settings& settings_;
  const MemberLayout& layout_;
  const Codec& codec_;
  Roster& roster_;
  BufferStock& stock_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  std::mutex mutex_;  // guards all below
  TableScrub tables_;
  StripeSweep sweep_;
  // What the step has found.
  ScrubProgress progress_;
  CountByRole rewritten_ = {};
};

}  // namespace calpe::array
