// SPDX-License-Identifier: Apache-2.0
// Enumerates all subsets of one size, for example of lost shards.
#pragma once
#include <concepts>
#include <cstddef>
#include <span>

namespace calpe {

// Steps to the next ascending subset of 0..limit-1 in lexicographic order. Returns false after the
// last, which is not changed.
template <std::unsigned_integral Index>
bool next_subset(std::span<Index> subset, std::size_t limit) noexcept {
  std::size_t i = subset.size();
  while (i > 0 && subset[i - 1] == limit - subset.size() + i - 1)
    --i;
  if (i == 0) return false;
  ++subset[i - 1];
  for (; i < subset.size(); ++i)
    subset[i] = static_cast<Index>(subset[i - 1] + 1);
  return true;
}

}  // namespace calpe
