// SPDX-License-Identifier: Apache-2.0
#include "ceph/profile.hpp"

#include <gtest/gtest.h>
#include <map>

namespace calpe::ceph {
namespace {

Result<CephCode> code(const std::string& text, std::uint64_t chunk_bytes = 0) {
  const Result<CephKeys> keys = parse_ceph_keys(text);
  EXPECT_TRUE(keys) << text;
  return ceph_code(*keys, chunk_bytes);
}

std::string refusal(const std::string& text, std::uint64_t chunk_bytes = 0) {
  const Result<CephCode> made = code(text, chunk_bytes);
  return made ? "accepted" : made.error().message;
}

TEST(CephProfile, keys_are_words_with_an_equals_sign) {
  const CephKeys keys = *parse_ceph_keys(" plugin=isa,k=4\nm=2  crush-device-class= ");
  EXPECT_EQ(keys,
            (CephKeys{{"plugin", "isa"}, {"k", "4"}, {"m", "2"}, {"crush-device-class", ""}}));
  EXPECT_EQ(parse_ceph_keys("plugin=isa k").error().message,
            "the profile has \"k\"; expected KEY=VALUE, such as k=4");
}

TEST(CephProfile, techniques_map_to_families) {
  const auto family = [](const std::string& text) { return code(text)->spec.family; };
  EXPECT_EQ(family("plugin=isa k=4 m=2"), CodeFamily::vandermonde_isal);
  EXPECT_EQ(family("plugin=isa k=4 m=2 technique=cauchy"), CodeFamily::cauchy);
  EXPECT_EQ(family("plugin=isa k=4 m=1 technique=cauchy"), CodeFamily::vandermonde_isal);
  EXPECT_EQ(family("plugin=jerasure k=4 m=2"), CodeFamily::vandermonde_jerasure);
  EXPECT_EQ(family("plugin=jerasure k=4 m=2 technique=reed_sol_r6_op"), CodeFamily::raid6);
  EXPECT_EQ(family("plugin=jerasure k=4 m=2 technique=cauchy_orig"), CodeFamily::cauchy_orig);
  EXPECT_EQ(family("plugin=jerasure k=4 m=2 technique=cauchy_good"), CodeFamily::cauchy_good);
  EXPECT_EQ(family("plugin=calpe k=4 m=2 profile=hybrid"), CodeFamily::hybrid);
  const CodeSpec packets =
      code("plugin=jerasure k=4 m=2 technique=cauchy_good w=4 packetsize=64")->spec;
  EXPECT_EQ(packets.layout, Layout::packets);
  EXPECT_EQ(packets.word_bits, 4);
  EXPECT_EQ(packets.packet_bytes, 64);
  EXPECT_EQ(code("plugin=calpe k=8 m=4 profile=lrc l=2")->spec.local_groups, 2);
  EXPECT_EQ(
      code("plugin=calpe k=8 m=4 profile=cauchy layout=packets packet_bytes=32")->spec.packet_bytes,
      32);
}

TEST(CephProfile, chunk_size_matches_the_daemons) {
  const auto chunk = [](const std::string& text) { return code(text)->chunk_bytes; };
  EXPECT_EQ(chunk("plugin=isa k=4 m=2"), 4096);
  EXPECT_EQ(chunk("plugin=isa k=4 m=2 stripe_unit=16K"), 16384);
  EXPECT_EQ(chunk("plugin=isa k=4 m=2 stripe_unit=8192"), 8192);
  // ceph-erasure-code-tool calc-chunk-size prints the same sizes.
  EXPECT_EQ(chunk("plugin=jerasure k=4 m=2 technique=cauchy_good"), 65536);
  EXPECT_EQ(chunk("plugin=jerasure k=4 m=2 technique=cauchy_good packetsize=512"), 16384);
  EXPECT_EQ(chunk("plugin=jerasure k=4 m=2 technique=cauchy_good packetsize=64"), 4096);
  EXPECT_EQ(chunk("plugin=calpe k=4 m=2 profile=cauchy layout=packets packet_bytes=1024"), 8192);
  EXPECT_EQ(code("plugin=isa k=4 m=2 stripe_unit=16K", 512)->chunk_bytes, 512);
}

TEST(CephProfile, unsupported_profiles_are_refused_with_a_reason) {
  EXPECT_EQ(refusal("plugin=isa m=2"), "the profile has no k; expected k=NUMBER");
  EXPECT_EQ(refusal("k=4 m=2"),
            "plugin is not given; expected calpe, isa or jerasure; other plugins are not "
            "supported");
  EXPECT_EQ(refusal("plugin=shec k=4 m=2").substr(0, 15), "plugin is shec;");
  EXPECT_EQ(refusal("plugin=jerasure k=4 m=2 w=16"),
            "w is 16 with technique=reed_sol_van; expected 8; words of 16 or 32 bits are not "
            "supported");
  EXPECT_EQ(refusal("plugin=jerasure k=4 m=2 technique=liberation w=7").substr(0, 23),
            "technique is liberation");
  EXPECT_EQ(refusal("plugin=jerasure k=4 m=3 technique=reed_sol_r6_op"),
            "m is 3; expected 2 for technique=reed_sol_r6_op");
  EXPECT_EQ(refusal("plugin=isa k=x m=2"), "k is x; expected a number from 1 to 256");
  EXPECT_EQ(refusal("plugin=isa k=0 m=2"), "k is 0; expected a number from 1 to 256");
  EXPECT_EQ(refusal("plugin=isa k=4 m=2 mapping=DD__").substr(0, 10), "mapping is");
  EXPECT_EQ(refusal("plugin=isa k=4 m=2 technique=good").substr(0, 17), "technique is good");
  EXPECT_EQ(refusal("plugin=jerasure k=4 m=2 technique=cauchy_good packetsize=512", 5000),
            "a chunk has 5000 bytes; expected a multiple of 4096 (w packets of 512)");
}

TEST(CephProfile, profiles_map_to_ceph_settings) {
  const CodeSpec packets{.layout = Layout::packets,
                         .data_shards = 4,
                         .parity_shards = 2,
                         .word_bits = 8,
                         .packet_bytes = 512};
  EXPECT_EQ(ceph_names("cauchy-good", packets),
            (std::vector<std::string>{
                "plugin=jerasure technique=cauchy_good w=8 packetsize=512",
                "plugin=calpe profile=cauchy-good layout=packets packet_bytes=512"}));
  const CodeSpec bytes{.data_shards = 4, .parity_shards = 2};
  EXPECT_EQ(ceph_names("cauchy", bytes)[0], "plugin=isa technique=cauchy");
  EXPECT_EQ(ceph_names("vandermonde-jerasure", bytes)[0],
            "plugin=jerasure technique=reed_sol_van w=8");
  EXPECT_TRUE(ceph_names("default", bytes).empty());
  const CodeSpec one_parity{.data_shards = 4, .parity_shards = 1};
  EXPECT_EQ(ceph_names("vandermonde-isal", bytes)[0], "plugin=isa technique=reed_sol_van");
  EXPECT_EQ(ceph_names("vandermonde-isal", one_parity)[0], "plugin=isa");
  EXPECT_EQ(ceph_names("cauchy", one_parity),
            std::vector<std::string>{"plugin=calpe profile=cauchy"});
  EXPECT_EQ(ceph_names("raid6", bytes)[0], "plugin=jerasure technique=reed_sol_r6_op w=8");
  CodeSpec narrow = packets;
  narrow.word_bits = 4;
  EXPECT_EQ(ceph_names("cauchy-orig", narrow),
            std::vector<std::string>{"plugin=jerasure technique=cauchy_orig w=4 packetsize=512"});
  EXPECT_TRUE(ceph_names("cauchy", narrow).empty());
}

TEST(CephProfile, numbers_have_units_and_bounds) {
  const std::string isa = "plugin=isa k=4 m=2 stripe_unit=";
  for (const auto& [unit, bytes] : std::map<std::string, std::uint64_t>{
           {"16K", 16384}, {"16Ki", 16384}, {"16k", 16384}, {"1M", 1 << 20}, {"1Mi", 1 << 20}})
    EXPECT_EQ(code(isa + unit)->chunk_bytes, bytes) << unit;
  for (const std::string wrong : {"16Q", "0", "-1", "K", "99999999M", "16K1"})
    EXPECT_NE(refusal(isa + wrong).find("stripe_unit is " + wrong + "; expected a number"),
              std::string::npos)
        << refusal(isa + wrong);
  EXPECT_EQ(refusal("plugin=isa k=4"), "the profile has no m; expected m=NUMBER");
  EXPECT_EQ(refusal("plugin=isa k= m=2"), "the profile has no k; expected k=NUMBER");
  EXPECT_FALSE(parse_ceph_keys("plugin=isa =4"));
}

TEST(CephProfile, every_key_is_validated) {
  const std::string cauchy = "plugin=jerasure k=4 m=2 technique=cauchy_good ";
  EXPECT_EQ(refusal(cauchy + "w=x"), "w is x; expected a number from 1 to 32");
  EXPECT_EQ(refusal(cauchy + "w=1"), "w is 1 with technique=cauchy_good; expected 2 to 8");
  EXPECT_EQ(refusal(cauchy + "w=9"), "w is 9 with technique=cauchy_good; expected 2 to 8");
  EXPECT_EQ(refusal(cauchy + "packetsize=0"),
            "packetsize is 0; expected a number from 1 to 16777216");
  // Per-chunk alignment is one group; otherwise groups of 3 bytes come in multiples of 16.
  EXPECT_EQ(code(cauchy + "packetsize=512 jerasure-per-chunk-alignment=true")->chunk_bytes, 4096);
  EXPECT_EQ(code(cauchy + "w=3 packetsize=1")->chunk_bytes % 48, 0U);
  const std::string own = "plugin=calpe k=4 m=2 ";
  EXPECT_NE(refusal(own + "profile=sonnet"), "accepted");
  EXPECT_EQ(refusal(own + "layout=columns"), "layout is columns; expected bytes or packets");
  EXPECT_EQ(code(own + "layout=bytes")->spec.layout, Layout::bytes);
  EXPECT_NE(refusal(own + "profile=cauchy layout=packets packet_bytes=x"), "accepted");
  EXPECT_NE(refusal(own + "profile=lrc l=x"), "accepted");
}

}  // namespace
}  // namespace calpe::ceph
