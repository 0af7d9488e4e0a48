// SPDX-License-Identifier: Apache-2.0
// Buffer for a block of work that cannot be done in place.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "backend/backend.hpp"
#include "base/leak_on_purpose.hpp"
#include "engine/run/symbol_units.hpp"

namespace calpe::engine {

// Memory inside the owner, usually on the stack, when the work runs on the caller's thread.
// Otherwise, and for very many rows, memory on the heap, which is leaked if the device hangs, as
// it may still be written to.
class Staging {
 public:
  static constexpr std::size_t bytes = 64 * 1024;
  static constexpr std::size_t few_columns = 16;

  // Holds `rows` rows of columns() bytes: at least columns_min, which is at most 64.
  explicit Staging(const backend::Device& device, std::size_t rows = 1,
                   std::size_t columns_min = few_columns)
      : device_(device) {
    const bool is_large = rows > bytes / columns_min;
    if (is_large) line_count_ = rows;
    if (is_large || !device.runs_on_caller()) {
      apart_ = std::unique_ptr<Line[]>(new Line[line_count_]);
    }
    const std::size_t columns = line_count_ * sizeof(Line) / (rows == 0 ? 1 : rows);
    columns_ = columns > sizeof(Line) ? columns / sizeof(Line) * sizeof(Line) : columns;
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (apart_ != nullptr && device_.may_still_write()) keep_for_good(std::move(apart_));
  }

  std::byte* data() noexcept { return apart_ != nullptr ? apart_[0].data() : own_[0].data(); }
  std::size_t columns() const noexcept { return columns_; }  // a multiple of 64 where possible

 private:
  struct alignas(64) Line : std::array<std::byte, 64> {};

  const backend::Device& device_;
  std::size_t line_count_ = bytes / sizeof(Line);
  std::size_t columns_ = 0;
  std::unique_ptr<Line[]> apart_;
  std::array<Line, bytes / sizeof(Line)> own_;  // not zeroed
};

// Columns that a block of shards should have at least. Kernels over GF(2^16) take as long for fewer
// columns as for a whole unit.
inline std::size_t staged_columns_min(const CodeSpec& spec) noexcept {
  return is_wide(spec) ? wide_unit_bytes : Staging::few_columns;
}

}  // namespace calpe::engine
