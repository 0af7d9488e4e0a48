// SPDX-License-Identifier: Apache-2.0
// Claims of the Re-RAID paper (a replication of the original), and what can be derived from them.
#pragma once
#include <span>
#include <string_view>

namespace calpe::reram {

// The paper does not state threads or the kind of Cauchy matrix.
inline constexpr std::string_view paper_baseline =
    "Jerasure, Cauchy matrix (variant not stated), packets of 8 bytes, i7-12700";

// Encode rate of the paper's CPU in MB/s; both arguments are at least 1. 1 / (a + b * m), times a
// power of k / 10, meets its three values exactly (10+2: 258.7, 40+2: 248.6, 10+16: 95.7). Other
// values are interpolated or extrapolated.
double paper_cpu_mb_per_s(unsigned data, unsigned parity);

struct PaperClaim {
  std::string_view what;
  std::string_view figure;
  bool is_derivable;          // also true if the fit was made to meet it
  std::string_view standing;  // "not derivable from the source" with the reason, or how it is met
};
std::span<const PaperClaim> paper_claims();

inline constexpr double paper_speed_up_10_2 = 19;
inline constexpr double paper_speed_up_max = 110;
inline constexpr double paper_rise_10_to_40 = 1.72;

}  // namespace calpe::reram
