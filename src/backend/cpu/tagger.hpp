// SPDX-License-Identifier: Apache-2.0
// Tags of shards over one field (docs/tags.md), with the kernels of one CPU path.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/shard_list.hpp>

#include "backend/cpu/cpu_kernels.hpp"
#include "gf/field.hpp"

namespace calpe::backend::cpu {

// The part of a shard that was taken so far.
struct TagState {
  alignas(64) std::array<std::byte, tag_state_digits* tag_digit_bytes> digits = {};
  alignas(64) std::array<std::byte, tag_bytes* tag_digit_bytes> sums = {};
  std::size_t position = 0;  // in the segment
};

// Immutable and thread-safe. Only the constructor allocates.
class Tagger {
 public:
  // Bytes that are fastest to take at a time.
  static constexpr std::size_t step_bytes = tag_state_digits * tag_digit_bytes;

  Tagger(const gf::Field& field, const CpuKernels& kernels);  // w = 8
  Tagger(const Tagger&) = delete;                             // tables point to product_rows_
  Tagger& operator=(const Tagger&) = delete;

  // Takes the next bytes of a shard. All but the last call take whole digits.
  void take(TagState& state, const std::byte* from, std::size_t bytes) const noexcept;
  // Writes the tags of the states one after the other. Several at a time are faster.
  void finish(std::span<TagState> states, std::byte* tags) const noexcept;

  // The tags of whole shards.
  void tag(std::span<const ConstShard> shards, std::byte* tags) const noexcept;

 private:
  void end_segment(TagState& state) const noexcept;

  TagKernels kernels_;
  std::vector<std::byte> tables_;
  std::vector<std::byte> product_rows_;  // TableKind::product_row only
};

// The constant c of the tag's polynomial z^8 + z^4 + z^3 + z^2 + c over this field: the smallest
// that makes it primitive. w = 8.
gf::Element tag_constant(const gf::Field& field) noexcept;

}  // namespace calpe::backend::cpu
