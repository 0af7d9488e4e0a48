// SPDX-License-Identifier: Apache-2.0
// What durability depends on of a code: which losses it survives, and what a rebuild reads.
#pragma once
#include <string>
#include <vector>

namespace calpe::durability {

struct Scheme {
  std::string name;  // "10+4", "lrc 12+2+2"
  unsigned data_shards = 0;
  unsigned parity_shards = 0;
  // dead[f]: of all patterns of f lost shards, the fraction that cannot be rebuilt; f = 0..m, all 0
  // for MDS codes. Beyond m nothing can be.
  std::vector<double> dead;
  double single_reads = 0;    // shards read to rebuild the only lost one, on average
  double multiple_reads = 0;  // and when several are lost

  unsigned shards() const { return data_shards + parity_shards; }
  double dead_fraction(unsigned losses) const { return losses < dead.size() ? dead[losses] : 1.0; }
  // The chance that `losses` are too many, when `before` of them were not.
  double newly_dead(unsigned before, unsigned losses) const {
    const double alive = 1 - dead_fraction(before);
    return alive <= 0 ? 1.0 : (dead_fraction(losses) - dead_fraction(before)) / alive;
  }
  unsigned sure_losses() const {  // any so many can be rebuilt
    unsigned losses = 0;
    while (dead_fraction(losses + 1) == 0)
      ++losses;
    return losses;
  }
  double overhead() const { return double(shards()) / data_shards; }  // stored over usable bytes
};

// Any m losses can be rebuilt, from k shards. m may be 0: plain data.
inline Scheme mds_scheme(unsigned data, unsigned parity) {
  return {.name = std::to_string(data) + "+" + std::to_string(parity),
          .data_shards = data,
          .parity_shards = parity,
          .dead = std::vector<double>(parity + 1, 0.0),
          .single_reads = double(data),
          .multiple_reads = double(data)};
}

}  // namespace calpe::durability
