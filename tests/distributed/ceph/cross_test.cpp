// SPDX-License-Identifier: Apache-2.0
// Shards of Ceph's own plugins and of Calpe's, decoded by each other: every loss pattern, of 10+4
// in packets every seventh unless CALPE_NIGHTLY is set.
#include <cstdlib>

#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Profile;
using ceph_host::Stripe;

struct Pair {
  const char* name;
  Profile theirs, ours;
};

class Cross : public testing::TestWithParam<std::tuple<int, std::pair<int, int>>> {};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"isa cauchy", {{"plugin", "isa"}, {"technique", "cauchy"}}, {{"profile", "cauchy"}}},
      {"isa reed_sol_van",
       {{"plugin", "isa"}, {"technique", "reed_sol_van"}},
       {{"profile", "vandermonde-isal"}}},
      {"jerasure reed_sol_van",
       {{"plugin", "jerasure"}, {"technique", "reed_sol_van"}, {"w", "8"}},
       {{"profile", "vandermonde-jerasure"}}},
      {"jerasure cauchy_good",
       {{"plugin", "jerasure"}, {"technique", "cauchy_good"}, {"w", "8"}, {"packetsize", "512"}},
       {{"profile", "cauchy-good"}, {"packet_bytes", "512"}}},
      {"jerasure cauchy_orig",
       {{"plugin", "jerasure"}, {"technique", "cauchy_orig"}, {"w", "8"}, {"packetsize", "64"}},
       {{"profile", "cauchy-orig"}, {"packet_bytes", "64"}}},
  };
  return all;
}

TEST_P(Cross, BytesAreEqualAndDecodeBothWays) {
  const auto& [index, shape] = GetParam();
  const Pair& pair = pairs()[static_cast<std::size_t>(index)];
  SCOPED_TRACE(pair.name);
  Profile theirs = pair.theirs, ours = pair.ours;
  ours["plugin"] = "calpe";
  for (Profile* profile : {&theirs, &ours}) {
    (*profile)["k"] = std::to_string(shape.first);
    (*profile)["m"] = std::to_string(shape.second);
  }
  constexpr unsigned chunk_bytes = 16384;  // a multiple of both chunk sizes
  const Stripe written(ceph_host::require_code(theirs), chunk_bytes, 4);
  const Stripe own(ceph_host::require_code(ours), chunk_bytes, 4);
  ours = own.code->get_profile();
  for (const auto& [shard, chunk] : written.chunks)
    ASSERT_EQ(ceph_host::bytes_of(chunk), ceph_host::bytes_of(own.chunks.at(shard))) << shard;
  // Plans of packets take milliseconds on both sides.
  const bool is_short =
      ours["layout"] == "packets" && shape.second > 3 && std::getenv("CALPE_NIGHTLY") == nullptr;
  const std::uint32_t step = is_short ? 7 : 1;
  for (std::uint32_t lost = 1; lost <= written.all(); lost += step) {
    if (ceph_host::shard_count_of(lost) > shape.second) continue;
    const std::uint32_t available = written.all() & ~lost;
    ASSERT_TRUE(written.rebuilds(*own.code, own.minimum(lost, available), lost)) << lost;
    ASSERT_TRUE(own.rebuilds(*written.code, written.minimum(lost, available), lost)) << lost;
  }
}

INSTANTIATE_TEST_SUITE_P(Plugins, Cross,
                         testing::Combine(testing::Range(0, 5),
                                          testing::Values(std::pair(4, 2), std::pair(8, 3),
                                                          std::pair(10, 4))));

}  // namespace
