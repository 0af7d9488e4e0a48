// SPDX-License-Identifier: Apache-2.0
#include "code/minors.hpp"

#include <algorithm>
#include <limits>

namespace calpe::code {

namespace {

using gf::Element;

class Search {
 public:
  Search(const gf::Field& field, const gf::Matrix& matrix, std::uint64_t budget)
      : field_(field), budget_(budget) {
    levels_.assign(std::min(matrix.rows(), matrix.columns()) + 1, matrix);
  }

  MinorSearch run() {
    result_.complete = !zero_entry(0, 0, 0) && descend(0, 0, 0);
    if (result_.found_singular()) result_.complete = true;
    return std::move(result_);
  }

 private:
  // Level d holds the Schur complement after d pivots, at its original row and column numbers. Rows
  // >= row0 and columns >= column0 are still free. Each entry there is a minor.
  bool descend(std::size_t depth, std::size_t row0, std::size_t column0) {
    const gf::Matrix& here = levels_[depth];
    for (std::size_t r = row0; r + 1 < here.rows(); ++r) {
      for (std::size_t c = column0; c + 1 < here.columns(); ++c) {
        pivots_.push_back({r, c});
        eliminate(depth, r, c);
        if (result_.evaluated > budget_ || zero_entry(depth + 1, r + 1, c + 1)) return false;
        if (!descend(depth + 1, r + 1, c + 1)) return false;
        pivots_.pop_back();
      }
    }
    return true;
  }

  void eliminate(std::size_t depth, std::size_t pivot_row, std::size_t pivot_column) {
    const gf::Matrix& from = levels_[depth];
    gf::Matrix& to = levels_[depth + 1];
    const std::uint32_t inverse_log = field_.order() - field_.log(from(pivot_row, pivot_column));
    for (std::size_t r = pivot_row + 1; r < from.rows(); ++r) {
      const Element factor = field_.exp(field_.log(from(r, pivot_column)) + inverse_log);
      for (std::size_t c = pivot_column + 1; c < from.columns(); ++c) {
        to(r, c) = static_cast<Element>(from(r, c) ^ field_.multiply(factor, from(pivot_row, c)));
      }
    }
  }

  bool zero_entry(std::size_t depth, std::size_t row0, std::size_t column0) {
    const gf::Matrix& here = levels_[depth];
    for (std::size_t r = row0; r < here.rows(); ++r) {
      for (std::size_t c = column0; c < here.columns(); ++c) {
        ++result_.evaluated;
        if (here(r, c) != 0) continue;
        pivots_.push_back({r, c});
        for (const auto& [row, column] : pivots_) {
          result_.rows.push_back(row);
          result_.columns.push_back(column);
        }
        return true;
      }
    }
    return false;
  }

  struct Pivot {
    std::size_t row, column;
  };
  const gf::Field& field_;
  std::uint64_t budget_;
  std::vector<gf::Matrix> levels_;
  std::vector<Pivot> pivots_;
  MinorSearch result_;
};

}  // namespace

MinorSearch search_minors(const gf::Field& field, const gf::Matrix& matrix, std::uint64_t budget) {
  return Search(field, matrix, budget).run();
}

std::uint64_t minor_count(std::size_t rows, std::size_t columns) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::size_t small = std::min(rows, columns);
  std::uint64_t count = 1;
  for (std::size_t i = 1; i <= small; ++i) {  // exact: holds C(n, i) after each step
    const std::uint64_t factor = rows + columns - small + i;
    if (count > most / factor) return most;
    count = count * factor / i;
  }
  return count - 1;
}

}  // namespace calpe::code
