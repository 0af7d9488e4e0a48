// SPDX-License-Identifier: Apache-2.0
// Validates the shards of one stripe and collects their pointers. A stripe of 4 KiB shards takes a
// hundred nanoseconds to code, so the usual stripe is accepted in one pass without branches.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <calpe/codec.hpp>

#include "engine/run/regions.hpp"
#include "engine/run/shard_lengths.hpp"

namespace calpe::engine {

// What a stripe has to look like: the shards that a plan reads and writes.
struct StripeShape {
  const CodeSpec& spec;
  std::span<const ShardIndex> reads;
  std::span<const ShardIndex> writes;
};

// Pointers to the shards of one stripe of a code over GF(2^8), on the stack; only the first entries
// are set.
struct StripeArrays {
  std::array<const std::byte*, byte_shard_count_max> inputs;
  std::array<std::byte*, byte_shard_count_max> outputs;
};

// True if these shards of `bytes` each are as in take_plain(), and none is nullptr.
inline bool are_apart(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                      std::size_t bytes) noexcept {
  if (outputs.empty()) return false;
  const auto address = [](const std::byte* shard) {
    return reinterpret_cast<std::uintptr_t>(shard);
  };
  unsigned wrong = 0;
  std::uintptr_t end = 1;  // after nullptr
  for (const std::byte* output : outputs) {
    wrong |= unsigned{address(output) < end};
    end = address(output) + bytes;
  }
  const std::uintptr_t first = address(outputs.front()) - bytes + 1;
  const std::uintptr_t reach = end - first;
  for (const std::byte* input : inputs)
    wrong |= unsigned{address(input) - first < reach} | unsigned{input == nullptr};
  return wrong == 0;
}

// Collects the pointers of shards that have these lengths, whose outputs ascend without overlapping
// and whose inputs all lie outside of the outputs' hull. Returns false for every other stripe,
// valid or not.
inline bool take_plain(std::span<const ConstShard> from, std::size_t input_bytes,
                       std::span<const Shard> to, std::size_t output_bytes,
                       const std::byte** inputs, std::byte** outputs) noexcept {
  const auto address = [](const std::byte* bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes);
  };
  if (to.empty()) return false;
  // Gathers what is wrong: a branch per shard would cost more than the shard's share of the work.
  std::uintptr_t wrong = 0;
  std::uintptr_t end = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Shard output = to[i];
    outputs[i] = output.data();
    wrong |= (output.size() ^ output_bytes) | std::uintptr_t{address(output.data()) < end};
    end = address(output.data()) + output_bytes;
  }
  // An input meets the outputs when it begins after first - input_bytes and before their end: one
  // comparison, as a difference that wraps around is large.
  const std::uintptr_t first = address(to.front().data()) - input_bytes + 1;
  const std::uintptr_t reach = end - first;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const ConstShard input = from[i];
    inputs[i] = input.data();
    wrong |= (input.size() ^ input_bytes) | std::uintptr_t{address(input.data()) - first < reach};
  }
  return wrong == 0;
}

Status check_count(const ListName& list, std::size_t got, std::size_t expected);

// Checks counts, lengths and overlap of shards, whole or in pieces.
Result<ShardLengths> check_stripe(const StripeShape& shape, std::span<const ConstShard> inputs,
                                  std::span<const Shard> outputs, const StripeNames& names);
Result<ShardLengths> check_stripe(const StripeShape& shape,
                                  std::span<const ConstShardPieces> inputs,
                                  std::span<const ShardPieces> outputs, const StripeNames& names);

// take_stripe() for stripes that take_usual() does not accept: names the operand that is wrong.
Status take_closely(const StripeShape& shape, const Stripe& stripe, const std::byte** inputs,
                    std::byte** outputs, ShardLengths& lengths, const StripeNames& names);

// take_stripe() for nearly every stripe, whose shards then all have the length of the first output.
// Returns false for the others. Inlined: a call would spill all operands, 2 ns of 35.
[[gnu::always_inline]] inline bool take_usual(const StripeShape& shape,
                                              std::span<const ConstShard> from,
                                              std::span<const Shard> to, const std::byte** inputs,
                                              std::byte** outputs) noexcept {
  if (from.size() != shape.reads.size() || to.size() != shape.writes.size() || to.empty()) {
    return false;
  }
  const std::size_t bytes = to.front().size();
  return bytes <= shard_bytes_max && covers(whole_groups(shape.spec, bytes), bytes) &&
         take_plain(from, bytes, to, bytes, inputs, outputs);
}

// Checks counts, lengths and overlap. On success `inputs` and `outputs` hold the pointers of the
// stripe, and `lengths` its lengths.
inline Status take_stripe(const StripeShape& shape, const Stripe& stripe, const std::byte** inputs,
                          std::byte** outputs, ShardLengths& lengths, const StripeNames& names) {
  if (take_usual(shape, stripe.inputs, stripe.outputs, inputs, outputs)) {
    const std::size_t bytes = stripe.outputs.front().size();
    lengths = {.data = bytes, .parity = bytes};
    return Done{};
  }
  return take_closely(shape, stripe, inputs, outputs, lengths, names);
}

}  // namespace calpe::engine
