// SPDX-License-Identifier: Apache-2.0
// Buffers at unusual addresses, surrounded by canaries.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/random_choice.hpp"

namespace calpe::conformance {

// Alignment of shards of one kind relative to each other, which matters for streaming stores.
enum class Alignment { any, equal, to_vectors };

// Random bytes in the shards and around them. A copy has the same bytes at other addresses, so the
// result is compared with the expected one, including canaries and gaps.
class Shards {
 public:
  Shards(Random& random, std::size_t count, std::size_t shard_bytes,
         Alignment alignment = Alignment::any)
      : shards_(count) {
    const std::size_t rest = alignment == Alignment::equal ? random.below(vector_bytes_max) : 0;
    for (Shard& shard : shards_) {
      shard.memory.resize(2 * guard_bytes + shard_bytes + guard_bytes);
      random.fill(shard.memory);
      shard.start = guard_bytes + random.below(guard_bytes);
      if (alignment == Alignment::any) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(shard.memory.data()) + guard_bytes;
      shard.start =
          guard_bytes + (vector_bytes_max + rest - address % vector_bytes_max) % vector_bytes_max;
    }
  }

  std::vector<std::byte*> pointers() {
    std::vector<std::byte*> all;
    for (Shard& shard : shards_)
      all.push_back(shard.memory.data() + shard.start);
    return all;
  }

  // Returns the first difference: "shard 2, byte -1 is 7; expected 9"; empty if there is none.
  std::string difference_to(const Shards& expected) const {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const auto& got = shards_[i].memory;
      const auto& want = expected.shards_[i].memory;
      const auto found = std::mismatch(got.begin(), got.end(), want.begin());
      if (found.first == got.end()) continue;
      const auto at = found.first - got.begin() - static_cast<std::ptrdiff_t>(shards_[i].start);
      return "shard " + std::to_string(i) + ", byte " + std::to_string(at) + " is " +
             std::to_string(std::to_integer<int>(*found.first)) + "; expected " +
             std::to_string(std::to_integer<int>(*found.second));
    }
    return {};
  }

 private:
  // Wider than the widest vector, so that a kernel that goes one vector too far is detected.
  static constexpr std::size_t guard_bytes = 128;
  static constexpr std::size_t vector_bytes_max = 64;
  struct Shard {
    std::size_t start = 0;
    std::vector<std::byte> memory = {};
  };
  std::vector<Shard> shards_;
};

}  // namespace calpe::conformance
