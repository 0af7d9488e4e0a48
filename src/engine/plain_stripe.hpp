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
    bool is_good = true;
    std::uintptr_t end = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      outputs[i] = to[i].data();
      is_good &= to[i].size() == output_bytes && address(outputs[i]) >= end;
      end = address(outputs[i]) + output_bytes;
    }
    const std::uintptr_t begin = to.empty() ? 0 : address(outputs[0]);
    for (std::size_t i = 0; i < from.size(); ++i) {
      inputs[i] = from[i].data();
      const std::uintptr_t at = address(inputs[i]);
      const bool is_apart =
          static_cast<int>(at + input_bytes <= begin) | static_cast<int>(at >= end);
      is_good &= static_cast<int>(from[i].size() == input_bytes) & static_cast<int>(is_apart);
    }
    return is_good;
  }
};

}  // namespace calpe::engine
