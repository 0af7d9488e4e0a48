// SPDX-License-Identifier: Apache-2.0
// The short way for nearly every stripe: shards of the lengths they should have, outputs ascending
// and apart, no input between the first and the last of them. A stripe of 4 KiB shards takes a
// hundred nanoseconds; checking it must not take as long again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <calpe/codec.hpp>

namespace calpe::engine {

struct PlainStripe {
  std::array<const std::byte*, shard_count_max> inputs;
  std::array<std::byte*, shard_count_max> outputs;

  // Fills both. False says only that somebody has to look closer. At most shard_count_max shards.
  bool take(std::span<const ConstShard> from, std::size_t input_bytes, std::span<const Shard> to,
            std::size_t output_bytes) noexcept {
    const auto address = [](const std::byte* bytes) {
      return reinterpret_cast<std::uintptr_t>(bytes);
    };
    if (to.empty()) return false;
    // Gathers whatever is wrong: a branch per shard would cost more than the shard's share of work.
    std::uintptr_t wrong = 0;
    std::uintptr_t end = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      outputs[i] = to[i].data();
      wrong |= (to[i].size() ^ output_bytes) | std::uintptr_t{address(outputs[i]) < end};
      end = address(outputs[i]) + output_bytes;
    }
    // An input meets the outputs when it begins after first - input_bytes and before their end: one
    // comparison, as a difference that wraps around is large.
    const std::uintptr_t first = address(outputs[0]) - input_bytes + 1;
    const std::uintptr_t reach = end - first;
    for (std::size_t i = 0; i < from.size(); ++i) {
      inputs[i] = from[i].data();
      wrong |= (from[i].size() ^ input_bytes) | std::uintptr_t{address(inputs[i]) - first < reach};
    }
    return wrong == 0;
  }
};

}  // namespace calpe::engine
