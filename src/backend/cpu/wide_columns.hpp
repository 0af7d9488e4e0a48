// SPDX-License-Identifier: Apache-2.0
// The cells of a batch over GF(2^16): unit 0 of a group holds the low bytes of the symbols, unit 1
// the high bytes. A cell is up to 64 columns of both.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backend/backend.hpp"
#include "backend/cpu/wide_kernels.hpp"
#include "base/divide_up.hpp"

namespace calpe::backend::cpu {

struct WideColumn {
  std::size_t begin = 0;  // offset of the low bytes in every shard
  std::size_t high = 0;   // distance to the high bytes
  std::size_t bytes = 0;  // 1..64; kernels work on copies of less than 64

  bool is_whole() const noexcept { return bytes == wide_unit_bytes; }
};

class WideColumns {
 public:
  explicit WideColumns(const Geometry& geometry)
      : geometry_(geometry), per_group_(divide_up(geometry.unit_bytes, wide_unit_bytes)) {}

  std::size_t count() const noexcept { return per_group_ * geometry_.group_count; }
  WideColumn operator[](std::size_t index) const noexcept {
    const std::size_t column = index % per_group_ * wide_unit_bytes;
    return {.begin = geometry_.offset + index / per_group_ * geometry_.group_stride + column,
            .high = geometry_.unit_stride,
            .bytes = std::min(wide_unit_bytes, geometry_.unit_bytes - column)};
  }

 private:
  Geometry geometry_;
  std::size_t per_group_;
};

// Copies a short column to a padded cell. Zeros follow, so that kernels compute with known bytes.
inline void copy_to_cell(const std::byte* shard, const WideColumn& column, std::byte* cell) {
  std::memset(cell, 0, wide_cell_bytes);
  std::memcpy(cell, shard + column.begin, column.bytes);
  std::memcpy(cell + wide_unit_bytes, shard + column.begin + column.high, column.bytes);
}

inline void copy_from_cell(const std::byte* cell, const WideColumn& column, std::byte* shard) {
  std::memcpy(shard + column.begin, cell, column.bytes);
  std::memcpy(shard + column.begin + column.high, cell + wide_unit_bytes, column.bytes);
}

inline void add_from_cell(const std::byte* cell, const WideColumn& column, std::byte* shard) {
  for (std::size_t i = 0; i < column.bytes; ++i) {
    shard[column.begin + i] ^= cell[i];
    shard[column.begin + column.high + i] ^= cell[wide_unit_bytes + i];
  }
}

}  // namespace calpe::backend::cpu
