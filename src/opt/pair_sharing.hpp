// SPDX-License-Identifier: Apache-2.0
// Paar's greedy step: the two values that most rows add become one new value, until no pair is
// common enough. The fastest way to save XORs, and the start of every better one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "opt/row_sets.hpp"

namespace calpe::opt {

// left < right. The i-th pair defines value n + i, n being the columns at the start.
struct SharedPair {
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  bool operator==(const SharedPair&) const = default;
};

struct SharingRules {
  // A pair in so many rows is shared: it saves count - 1 two-input XORs, so 2 is where two-input
  // XORs begin to gain; where three inputs cost one instruction, 3. At least 2.
  std::uint32_t min_count = 2;
  std::size_t values_max = ~std::size_t{0};  // new values, at most
  // 0: of equally common pairs the newest, of those the first. Otherwise one at random.
  std::uint64_t seed = 0;
};

// Row r stays the sum of the columns that have it: `columns` gets one more for each pair, and its
// rows leave the two of the pair. To share within some columns only, pass those alone.
//
// Common pairs are kept by count and looked at again only when they come up: a count never grows,
// since columns only lose rows, and what a new value shares with another its parts did before.
// So a new value costs one AND per column, and choosing it nothing: 80 columns of 32 rows take
// about a tenth of a millisecond.
std::vector<SharedPair> share_pairs(RowSets& columns, const SharingRules& rules = {});

}  // namespace calpe::opt
