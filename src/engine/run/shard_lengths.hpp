// SPDX-License-Identifier: Apache-2.0
// The length rule: data shards of a stripe have the same length, which determines that of parity
// shards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <calpe/codec.hpp>

#include "engine/run/operand_names.hpp"
#include "engine/run/symbol_units.hpp"

namespace calpe::engine {

// Larger lengths do not fit a difference of two addresses, and sums would wrap around.
inline constexpr std::size_t shard_bytes_max = PTRDIFF_MAX - 64;

// They differ only if a symbol has several units and the data length is not a multiple of these.
struct ShardLengths {
  std::size_t data = 0;
  std::size_t parity = 0;
  std::size_t of(const CodeSpec& spec, ShardIndex shard) const noexcept {
    return shard < spec.data_shards ? data : parity;
  }
};

inline std::size_t parity_length(const CodeSpec& spec, std::size_t data_bytes) noexcept {
  if (is_flat(spec) || data_bytes > shard_bytes_max) return data_bytes;
  const std::size_t units = unit_count(spec);
  return (data_bytes + units - 1) / units * units;
}

std::size_t length_multiple(const CodeSpec& spec) noexcept;

// Takes the shards of a stripe one by one, then returns its lengths or an error.
class LengthCheck {
 public:
  explicit LengthCheck(const CodeSpec& spec) : spec_(spec) {}

  Status see(ShardIndex shard, std::size_t bytes, const ShardName& name) {
    auto& first = shard < spec_.data_shards || is_flat(spec_) ? data_ : parity_;
    if (!first) first = {.bytes = bytes, .name = name};
    if (first->bytes == bytes) return Done{};
    return differs({.bytes = bytes, .name = name}, *first);
  }

  Result<ShardLengths> finish() const;

 private:
  struct Seen {
    std::size_t bytes = 0;
    ShardName name;
  };
  static Error differs(const Seen& shard, const Seen& first);
  const CodeSpec& spec_;
  std::optional<Seen> data_;  // the first; of a flat layout, of every shard
  std::optional<Seen> parity_;
};

}  // namespace calpe::engine
