// SPDX-License-Identifier: Apache-2.0
// Writes. Whole stripes go directly to a free slot and only need a record in the log. Parts of a
// stripe become blocks of the pending batch, together with their parity.
//
// Locks: the write gate, which a writer passes before it takes the exclusive lock of its stripe.
// While holding both it may commit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <calpe/codec.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/state/part_plan.hpp"
#include "array/state/stripe_range.hpp"
#include "array/state/write_gate.hpp"

namespace calpe::array {

class Writer {
 public:
  Writer(SharedState& shared, Log& log, StripeLoader& loader);

  // Like Array::write(), zero() and trim(); durable with the next commit.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes);
  Status zero(std::uint64_t offset, std::uint64_t length);
  Status trim(std::uint64_t offset, std::uint64_t length);
  // Nothing is written while it is closed.
  WriteGate& gate() noexcept { return gate_; }

 private:
  Status write_stripe(std::uint64_t stripe, std::span<const std::byte> bytes);
  Status redirect(const StripeAt& at, std::span<const std::byte> bytes);
  Status write_part(const StripePart& part, const std::byte* bytes);
  Status compute(const PartPlan& plan, const StripeAt& at, StripeBuffer& old, StripeBuffer& now);
  Status put_part(const PartPlan& plan, const StripeAt& at, StripeBuffer& now, bool is_new_slot);
  Status write_zeros(const StripePart& part);
  Status make_hole(std::uint64_t stripe);
  template <class Rest>
  Status make_holes(std::uint64_t offset, std::uint64_t length, const Rest& rest);
  Result<std::uint32_t> take_slot();

  const Settings& settings_;
  const MemberLayout& layout_;
  const BlockCheck& check_;
  const Codec& codec_;
  Roster& roster_;
  BufferStock& stock_;
  Stripes& stripes_;
  LostBlocks& lost_;
  Log& log_;
  StripeLoader& loader_;
  WriteGate gate_;
};

}  // namespace calpe::array
