// SPDX-License-Identifier: Apache-2.0
#include "reram/paper.hpp"

#include <array>
#include <cmath>

namespace calpe::reram {

namespace {

// Encode rates of the paper's CPU, in MB/s.
constexpr double cpu_10_2 = 258.7;
constexpr double cpu_40_2 = 248.6;
constexpr double cpu_10_16 = 95.7;

constexpr std::array claims = {
    PaperClaim{"encode, smallest speed-up", "19x", true,
               "fitted: taken to be at 10+2, where the CPU is fastest"},
    PaperClaim{"encode, from k = 10 to k = 40", "+72 %", true, "fitted"},
    PaperClaim{"encode, largest speed-up", "110x", true,
               "the fit predicts 16 % less, at 40+16; no m in the paper's table comes near"},
    PaperClaim{"decode, one lost", "60.4x", false,
               "not derivable from the source: it gives neither the CPU rate nor the number of "
               "SSDs, nor whether this is a maximum or a mean"},
    PaperClaim{"decode, four lost", "51.6x to 149.7x", false,
               "not derivable from the source: it is the same product as an encode with m = 4, "
               "whose rate rises 1.72 times, not 2.9 times; the CPU rate is not given"},
    PaperClaim{"encode, original paper", "598x", false,
               "not derivable from the source: a result of the original paper, given without its "
               "parameters and not reached by the replication"},
    PaperClaim{"decode, original paper", "251x", false,
               "not derivable from the source: a result of the original paper, given without its "
               "parameters and not reached by the replication"},
};

}  // namespace

double paper_cpu_mb_per_s(unsigned data, unsigned parity) {
  constexpr double per_parity = (1 / cpu_10_16 - 1 / cpu_10_2) / (16 - 2);
  constexpr double fixed = 1 / cpu_10_2 - 2 * per_parity;
  const double exponent = std::log(cpu_40_2 / cpu_10_2) / std::log(40.0 / 10.0);
  return std::pow(data / 10.0, exponent) / (fixed + per_parity * parity);
}

std::span<const PaperClaim> paper_claims() {
  return claims;
}

}  // namespace calpe::reram
