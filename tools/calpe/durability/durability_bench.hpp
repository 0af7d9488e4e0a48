// SPDX-License-Identifier: Apache-2.0
// How fast this machine decodes, from what `calpe bench --json` wrote.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

class MeasuredRates {
 public:
  // Fails with io or corrupt, naming the file.
  static Result<MeasuredRates> read(const std::string& path);

  struct Rate {
    double bytes_per_s = 0;  // of the shards that are read
    std::string origin;      // "8.1 GB/s, 10+4, shards of 1048576 bytes, cpu:avx2"
    bool is_same_code = false;
  };
  // The slowest row that rebuilds this shape; where there is none, the slowest that rebuilds.
  Rate decode_rate(unsigned data, unsigned parity) const;

 private:
  struct Row {
    unsigned data = 0;
    unsigned parity = 0;
    Rate rate;
  };
  std::vector<Row> rows_;  // not empty
};

}  // namespace calpe::tools
