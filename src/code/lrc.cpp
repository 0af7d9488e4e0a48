// SPDX-License-Identifier: Apache-2.0
// Local reconstruction code in Azure's layout: one XOR per group of data shards, then global
// parities.
//
// Built as a pyramid: take an MDS code with 1 + g parities whose first row is ones, and split that
// row into one row per group. This can only increase the weight of a codeword, so any 1 + g losses
// can be rebuilt. A single loss reads its group, k/l shards, instead of k. 12+2+2: six reads.
//
// The MDS code is {1, 2^j, 4^j} for up to two globals, as in Azure's. Up to k = 16 it rebuilds
// every pattern that any code of this shape can rebuild (12+2+2: 1568 of 1820 four-loss patterns;
// Cauchy rows rebuild 1562; docs/adr/0007). More rows of this kind would not be MDS, so three or
// more globals use `hybrid`.
#include <algorithm>

#include "base/assert.hpp"
#include "code/families.hpp"

namespace calpe::code {

gf::Matrix lrc_rows(const gf::Field& field, Size size, std::size_t local_groups) {
  CALPE_ASSERT(local_groups >= 1 && local_groups <= size.parity);
  const std::size_t globals = size.parity - local_groups;
  const Size base_size{.data = size.data, .parity = globals + 1};
  const gf::Matrix base =
      globals <= 2 ? vandermonde_isal_rows(field, base_size) : hybrid_rows(field, base_size);
  gf::Matrix rows(size.parity, size.data);
  for (std::size_t j = 0; j < size.data; ++j) {
    rows(lrc_group_of(size.data, local_groups, j), j) = 1;
  }
  for (std::size_t i = 0; i < globals; ++i) {
    std::ranges::copy(base.row(i + 1), rows.row(local_groups + i).begin());
  }
  return rows;
}

// Contiguous groups whose sizes differ by at most one, smaller ones first.
std::size_t lrc_group_of(std::size_t data, std::size_t local_groups, std::size_t data_index) {
  std::size_t group = 0;
  while ((group + 1) * data / local_groups <= data_index)
    ++group;
  return group;
}

}  // namespace calpe::code
