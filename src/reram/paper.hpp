// SPDX-License-Identifier: Apache-2.0
// What the text of Re-RAID (a replication of the original) claims, and what can be made of it.
#pragma once
#include <span>
#include <string_view>

namespace calpe::sim {

// Threads and the kind of Cauchy matrix are not said.
inline constexpr std::string_view paper_baseline =
    "Jerasure, Cauchy matrix (variant not stated), packets of 8 bytes, i7-12700";

// MB/s of the paper's CPU, encoding. Its three figures (10+2: 258.7, 40+2: 248.6, 10+16: 95.7) are
// met exactly by 1 / (a + b * m), times a power of k / 10; everything else is interpolation, or
// beyond these figures extrapolation. Both are at least 1.
double paper_cpu_mb_per_s(unsigned data, unsigned parity);

struct PaperClaim {
  std::string_view what;
  std::string_view figure;
  bool is_derivable;          // or the fit was made to meet it
  std::string_view standing;  // "not derivable from the source", and why; else how it is met
};
std::span<const PaperClaim> paper_claims();

inline constexpr double paper_speed_up_10_2 = 19;
inline constexpr double paper_speed_up_max = 110;
inline constexpr double paper_rise_10_to_40 = 1.72;

}  // namespace calpe::sim
