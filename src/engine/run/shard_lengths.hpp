// SPDX-License-Identifier: Apache-2.0
// The length rule: data shards of a stripe have one length, parity shards the length that follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <calpe/codec.hpp>

namespace calpe::engine {

// More is no length: a difference of two addresses could not express it, and sums would wrap.
inline constexpr std::size_t shard_bytes_max = PTRDIFF_MAX - 64;

// They differ only with Layout::packets, when the data length is no multiple of w.
struct ShardLengths {
  std::size_t data = 0;
  std::size_t parity = 0;
  std::size_t of(const CodeSpec& spec, ShardIndex shard) const noexcept {
    return shard < spec.data_shards ? data : parity;
  }
};

inline std::size_t parity_length(const CodeSpec& spec, std::size_t data_bytes) noexcept {
  if (spec.layout == Layout::bytes || data_bytes > shard_bytes_max) return data_bytes;
  return (data_bytes + spec.word_bits - 1) / spec.word_bits * spec.word_bits;
}

std::size_t length_multiple(const CodeSpec& spec) noexcept;

// Sees the shards of one stripe one by one, then tells its lengths or what is wrong.
class LengthCheck {
 public:
  explicit LengthCheck(const CodeSpec& spec) : spec_(spec) {}

  // operand and position are for the message: "outputs[2]".
  Status see(ShardIndex shard, std::size_t bytes, const char* operand, std::size_t position) {
    auto& length = shard < spec_.data_shards || spec_.layout == Layout::bytes ? data_ : parity_;
    if (!length) length = bytes;
    if (*length == bytes) return Done{};
    return differs(bytes, *length, operand, position);
  }

  Result<ShardLengths> finish() const;

 private:
  static Error differs(std::size_t bytes, std::size_t expected, const char* operand,
                       std::size_t position);
  const CodeSpec& spec_;
  std::optional<std::size_t> data_;  // every shard's with Layout::bytes
  std::optional<std::size_t> parity_;
};

}  // namespace calpe::engine
