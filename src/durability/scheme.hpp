// SPDX-License-Identifier: Apache-2.0
// Properties of a code that durability depends on: recoverable losses and the cost of a rebuild.
#pragma once
#include <string>
#include <vector>

namespace calpe::durability {

struct Scheme {
  std::string name;  // "10+4", "lrc 12+2+2"
  unsigned data_shards = 0;
  unsigned parity_shards = 0;
  // dead[f]: fraction of all patterns of f lost shards that cannot be rebuilt, f = 0..m; all 0 for
  // MDS codes. Beyond m, none can be rebuilt.
  std::vector<double> dead;
  double single_reads = 0;    // shards read to rebuild a single lost one, on average
  double multiple_reads = 0;  // the same if several are lost

  unsigned shards() const { return data_shards + parity_shards; }
  double dead_fraction(unsigned losses) const { return losses < dead.size() ? dead[losses] : 1.0; }
  // Probability that `losses` are too many, given that `before` of them were not.
  double newly_dead(unsigned before, unsigned losses) const {
    const double alive = 1 - dead_fraction(before);
    return alive <= 0 ? 1.0 : (dead_fraction(losses) - dead_fraction(before)) / alive;
  }
  unsigned sure_losses() const {  // any this many losses can be rebuilt
    unsigned losses = 0;
    while (dead_fraction(losses + 1) == 0)
      ++losses;
    return losses;
  }
  double overhead() const { return double(shards()) / data_shards; }  // stored over usable bytes
};

// A scheme that survives any m losses and rebuilds from k shards. m may be 0: plain data.
inline Scheme mds_scheme(unsigned data, unsigned parity) {
  return {.name = std::to_string(data) + "+" + std::to_string(parity),
          .data_shards = data,
          .parity_shards = parity,
          .dead = std::vector<double>(parity + 1, 0.0),
          .single_reads = double(data),
          .multiple_reads = double(data)};
}

}  // namespace calpe::durability
