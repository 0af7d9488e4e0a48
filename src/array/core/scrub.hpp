// SPDX-License-Identifier: Apache-2.0
// Scrub: verifies all blocks, rewrites wrong ones, and counts them per member.
//
// Locks: none. Takes the exclusive lock of one stripe at a time, then that of the log.
#pragma once
#include <cstdint>

#include <calpe/codec.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/table_scrub.hpp"

namespace calpe::array {

class Scrub {
 public:
  Scrub(SharedState& shared, Log& log, StripeLoader& loader);

  // Like Array::scrub_step().
  Result<ScrubProgress> step(std::uint64_t position, std::uint64_t bytes);

 private:
  Status scrub_stripe(std::uint64_t stripe, ScrubProgress& progress, CountByRole& rewritten);
  Status compare_parity(StripeBuffer& buffer, ScrubProgress& progress);
  Status harden(const CountByRole& rewritten, ScrubProgress& progress);

  const Settings& settings_;
  const MemberLayout& layout_;
  const Codec& codec_;
  Roster& roster_;
  BufferStock& stock_;
  Stripes& stripes_;
  Log& log_;
  StripeLoader& loader_;
  TableScrub tables_;
};

}  // namespace calpe::array
