// SPDX-License-Identifier: Apache-2.0
// Decode rates of this machine, read from the output of `calpe bench --json`.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

class MeasuredRates {
 public:
  // Fails with io or invalid_argument, naming the file.
  static Result<MeasuredRates> read(const std::string& path);

  struct Rate {
    double bytes_per_s = 0;  // of the shards that are read
    std::string origin;      // "8.1 GB/s, 10+4, shards of 1048576 bytes, cpu:avx2"
    bool is_same_code = false;
  };
  // Returns the slowest decode row of this shape, or of all shapes if there is none.
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
