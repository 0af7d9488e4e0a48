// SPDX-License-Identifier: Apache-2.0
// Tries every loss pattern that a code promises, on every CPU path: the rebuilt shards must equal
// those encoded by the reference backend. k+m <= 16 for cauchy, hybrid and lch, also over
// GF(2^16) (982,905 patterns each), k+m <= 10 for every other profile.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "support/pattern_check.hpp"
#include "support/profile_lists.hpp"

namespace calpe {
namespace {

using tests::check_all;
using tests::copies_jerasure;

std::vector<std::string> cpu_paths() {
  std::vector<std::string> paths;
  for (const BackendInfo& info : list_backends()) {
    if (info.name.starts_with("cpu:") && info.available) paths.push_back(info.name);
  }
  return paths;
}

struct LongCase {
  const char* profile;
  unsigned word_bits = 8;
};

class LongSweep : public ::testing::TestWithParam<LongCase> {};

TEST_P(LongSweep, EveryPatternUpToSixteenShardsOnEveryPath) {
  const std::vector<std::string> paths = cpu_paths();
  std::uint64_t patterns = 0;
  for (unsigned shards = 2; shards <= 16; ++shards) {
    for (unsigned m = 1; m < shards; ++m) {
      CodeSpec spec = *find_profile(GetParam().profile);
      spec.word_bits = static_cast<std::uint8_t>(GetParam().word_bits);
      spec.data_shards = static_cast<std::uint16_t>(shards - m);
      spec.parity_shards = static_cast<std::uint16_t>(m);
      patterns += check_all(spec, paths);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(patterns, 982'905U);
  std::printf("%s w=%u: %llu patterns on %zu paths\n", GetParam().profile, GetParam().word_bits,
              static_cast<unsigned long long>(patterns), paths.size());
}

INSTANTIATE_TEST_SUITE_P(Profiles, LongSweep,
                         ::testing::Values(LongCase{"cauchy"}, LongCase{"hybrid"}, LongCase{"lch"},
                                           LongCase{"lch", 16}));

struct NarrowCase {
  const char* profile;
  Layout layout;
  unsigned word_bits;
};

class NarrowSweep : public ::testing::TestWithParam<NarrowCase> {};

TEST_P(NarrowSweep, EveryPatternUpToTenShardsOnEveryPath) {
  const std::vector<std::string> paths = cpu_paths();
  std::uint64_t patterns = 0;
  for (unsigned shards = 2; shards <= 10 && shards <= 1U << GetParam().word_bits; ++shards) {
    for (unsigned m = 1; m < shards; ++m) {
      CodeSpec spec = *find_profile(GetParam().profile);
      spec.layout = GetParam().layout;
      spec.word_bits = static_cast<std::uint8_t>(GetParam().word_bits);
      spec.data_shards = static_cast<std::uint16_t>(shards - m);
      spec.parity_shards = static_cast<std::uint16_t>(m);
      if (spec.layout == Layout::packets) spec.packet_bytes = copies_jerasure(spec) ? 8 : 5;
      if (spec.family == CodeFamily::raid6 && m > 2) continue;
      for (unsigned groups = 1; groups <= std::min(m, shards - m); ++groups) {
        if (spec.family == CodeFamily::lrc) spec.local_groups = static_cast<std::uint16_t>(groups);
        if (!prove(spec)->proven()) continue;  // vandermonde-isal
        patterns += check_all(spec, paths);
        if (HasFatalFailure()) return;
        if (spec.family != CodeFamily::lrc) break;
      }
    }
  }
  EXPECT_GT(patterns, 0U);
  std::printf("%s w=%u: %llu patterns on %zu paths\n", GetParam().profile, GetParam().word_bits,
              static_cast<unsigned long long>(patterns), paths.size());
}

std::vector<NarrowCase> narrow_cases() {
  std::vector<NarrowCase> cases;
  for (const Profile& profile : tests::profiles_but({"cauchy", "hybrid", "lch", "custom"})) {
    if (profile.bytes_layout) cases.push_back({profile.name.data(), Layout::bytes, 8});
    if (profile.packets_layout) cases.push_back({profile.name.data(), Layout::packets, 8});
  }
  for (const unsigned word_bits : {2U, 3U, 4U, 7U, 8U})
    cases.push_back({"cauchy", Layout::packets, word_bits});
  for (const unsigned word_bits : {4U, 6U})
    cases.push_back({"hybrid-good", Layout::packets, word_bits});
  cases.push_back({"cauchy-orig", Layout::packets, 4});
  cases.push_back({"cauchy-good", Layout::packets, 5});
  cases.push_back({"hybrid", Layout::packets, 5});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Profiles, NarrowSweep, ::testing::ValuesIn(narrow_cases()));

}  // namespace
}  // namespace calpe
