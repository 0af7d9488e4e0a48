// SPDX-License-Identifier: Apache-2.0
// A stripe whose data bytes follow from a formula, so that golden vectors need not store them. In
// aligned memory, which some peers require.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tests {

// Byte i of data shard j of every stripe here and in tests/vectors: v xor floor(v / 256), modulo
// 256, for v = 7*i*i + 131*i + 29*i*j + 17*j + 11. The product keeps shards from differing by a
// constant, the shift keeps bytes from repeating after 256.
inline std::byte formula_byte(std::uint64_t j, std::uint64_t i) noexcept {
  const std::uint64_t v = 7 * i * i + 131 * i + 29 * i * j + 17 * j + 11;
  return static_cast<std::byte>((v ^ v >> 8) & 0xFF);
}

// Content of parity before it is written; a coder would not write it by chance.
inline constexpr std::byte unwritten{0xA5};

// Each shard has its own allocation, so that sanitizers see accesses beyond its end.
class FormulaStripe {
 public:
  struct Shape {
    std::size_t data_shards = 0;
    std::size_t parity_shards = 0;
    std::size_t data_bytes = 0;
    std::size_t parity_bytes = 0;
  };

  explicit FormulaStripe(const Shape& shape) : shape_(shape) {
    for (std::size_t j = 0; j < shape.data_shards + shape.parity_shards; ++j) {
      const bool is_data = j < shape.data_shards;
      shards_.push_back(allocate(is_data ? shape.data_bytes : shape.parity_bytes));
      for (std::size_t i = 0; i < bytes_of(j); ++i)
        shards_[j][i] = is_data ? formula_byte(j, i) : unwritten;
    }
  }

  std::size_t shard_count() const noexcept { return shards_.size(); }
  Shard shard(std::size_t index) const { return {shards_[index].get(), bytes_of(index)}; }

  // For peers with their own byte types in C.
  template <class Byte>
  std::vector<Byte*> pointers(std::size_t first, std::size_t count) const {
    std::vector<Byte*> result;
    for (std::size_t i = first; i < first + count; ++i)
      result.push_back(reinterpret_cast<Byte*>(shards_[i].get()));
    return result;
  }

  std::vector<ConstShard> data() const {
    std::vector<ConstShard> result;
    for (std::size_t j = 0; j < shape_.data_shards; ++j)
      result.push_back(shard(j));
    return result;
  }

  std::vector<Shard> parity() const {
    std::vector<Shard> result;
    for (std::size_t j = shape_.data_shards; j < shard_count(); ++j)
      result.push_back(shard(j));
    return result;
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  static Memory allocate(std::size_t bytes) {
    return Memory(static_cast<std::byte*>(::operator new(bytes, alignment)));
  }

  std::size_t bytes_of(std::size_t index) const noexcept {
    return index < shape_.data_shards ? shape_.data_bytes : shape_.parity_bytes;
  }

  Shape shape_;
  std::vector<Memory> shards_;
};

inline FormulaStripe make_stripe(const Codec& codec, std::size_t data_bytes) {
  return FormulaStripe({.data_shards = codec.spec().data_shards,
                        .parity_shards = codec.spec().parity_shards,
                        .data_bytes = data_bytes,
                        .parity_bytes = codec.parity_bytes(data_bytes)});
}

}  // namespace calpe::tests
