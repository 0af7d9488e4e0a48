// SPDX-License-Identifier: Apache-2.0
// Paar's greedy step: repeatedly turns the two values that most rows add into a new value, until no
// pair is common enough. The fastest way to save XORs, and the start of every better search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "opt/row_sets.hpp"

namespace calpe::opt {

// left < right. The i-th pair defines value n + i, where n is the initial number of columns.
struct SharedPair {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  bool operator==(const SharedPair&) const = default;
};

struct SharingRules {
  // Shares pairs in at least this many rows, which saves count - 1 two-input XORs. 2 is where
  // two-input XORs begin to gain; if three inputs cost one instruction, 3 is. At least 2.
  std::uint32_t min_count = 2;
  std::size_t values_max = ~std::size_t{0};  // maximum number of new values
  // 0: of equally common pairs take the newest, then the first. Otherwise take one at random.
  std::uint64_t seed = 0;
};

// Row r remains the sum of the columns that contain it. `columns` gets a new column for each pair,
// and its rows leave the two columns of the pair. To share within some columns only, pass only
// those.
//
// Pairs are kept by count and recounted only when they come up. A count never grows: columns only
// lose rows, and pairs of a new value were pairs of its parts before. So a new value costs one AND
// per column, and choosing it costs nothing: 80 columns of 32 rows take about 0.1 ms.
std::vector<SharedPair> share_pairs(RowSets& columns, const SharingRules& rules = {});

}  // namespace calpe::opt
