// SPDX-License-Identifier: Apache-2.0
// Keys of the profile: defaults are written back, wrong values are refused with the reason.
#include <cerrno>

#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Made;
using ceph_host::make_code;
using ceph_host::Profile;

TEST(CephProfile, EveryDefaultIsWrittenBack) {
  Profile profile = {{"plugin", "calpe"}};
  ASSERT_EQ(make_code(profile).status, 0);
  const Profile expected = {{"backend", "auto"},
                            {"crush-device-class", ""},
                            {"crush-failure-domain", "host"},
                            {"crush-root", "default"},
                            {"k", "4"},
                            {"layout", "bytes"},
                            {"m", "2"},
                            {"plugin", "calpe"},
                            {"profile", "hybrid"}};
  EXPECT_EQ(profile, expected);
  Profile again = profile;  // daemons get it from the monitor
  ASSERT_EQ(make_code(again).status, 0);
  EXPECT_EQ(again, profile);
}

TEST(CephProfile, DefaultsDependOnTheProfile) {
  Profile packets = {{"plugin", "calpe"}, {"profile", "cauchy-good"}};
  ASSERT_EQ(make_code(packets).status, 0);
  EXPECT_EQ(packets["layout"], "packets");
  EXPECT_EQ(packets["packet_bytes"], "512");
  Profile lrc = {{"plugin", "calpe"}, {"profile", "lrc"}, {"k", "8"}, {"m", "4"}};
  ASSERT_EQ(make_code(lrc).status, 0);
  EXPECT_EQ(lrc["l"], "2");
  Profile many = {{"plugin", "calpe"}, {"k", "8"}, {"m", "6"}};
  ASSERT_EQ(make_code(many).status, 0);
  EXPECT_EQ(many["profile"], "lch");
}

TEST(CephProfile, ChunksAreWholeGroupsOfPackets) {
  Profile profile = {{"plugin", "calpe"}, {"profile", "cauchy-good"}, {"packet_bytes", "24"}};
  const Made made = make_code(profile);
  ASSERT_EQ(made.status, 0);
  EXPECT_EQ(made.code->get_chunk_size(1), 192u);        // 8 packets of 24 are whole cache lines
  EXPECT_EQ(made.code->get_chunk_size(4 * 192), 192u);  // as is: Ceph asserts it of a stripe_unit
  EXPECT_EQ(made.code->get_chunk_size(4 * 192 + 1), 384u);
  EXPECT_EQ(made.code->get_sub_chunk_count(), 1);
  EXPECT_TRUE(made.code->get_chunk_mapping().empty());
}

TEST(CephProfile, StripeUnitIsAdvisedUnlessGiven) {
  Profile without = {{"plugin", "calpe"}};
  EXPECT_NE(make_code(without).message.find("stripe_unit"), std::string::npos);
  EXPECT_EQ(without.count("stripe_unit"), 0u);  // the monitor's matter
  Profile with = {{"plugin", "calpe"}, {"stripe_unit", "16K"}};
  EXPECT_EQ(make_code(with).message, "");
  EXPECT_EQ(with["stripe_unit"], "16K");
}

TEST(CephProfile, TheCodeIsSharedByEqualProfiles) {
  Profile first = {{"plugin", "calpe"}, {"k", "5"}}, second = first;
  const Made one = make_code(first), two = make_code(second);
  ASSERT_NE(one.code, two.code);  // each placement group has its own, small
  EXPECT_EQ(one.code->get_profile(), two.code->get_profile());
}

// A daemon must not refuse a profile that the monitor accepted, or it would not start.
TEST(CephProfile, ABackendThatIsNotHereIsReplaced) {
  Profile profile = {{"plugin", "calpe"}, {"backend", "cuda:63"}, {"stripe_unit", "4K"}};
  const Made made = make_code(profile);
  ASSERT_EQ(made.status, 0) << made.message;
  EXPECT_NE(made.message.find("using auto instead"), std::string::npos) << made.message;
  EXPECT_EQ(profile["backend"], "cuda:63");
}

struct Refusal {
  Profile keys;
  std::string reason;
};

TEST(CephProfile, WhatIsWrongIsRefusedWithTheReason) {
  const std::string shards_max = CALPE_CEPH_RELEASE < 17 ? "20;" : "32;";
  const std::vector<Refusal> refusals = {
      {{{"k", "28"}, {"m", "5"}}, "k + m is 33; expected at most " + shards_max},
      {{{"k", "300"}, {"m", "300"}}, "k + m is 600; expected at most " + shards_max},
      {{{"k", "1"}}, "k is 1; expected a number from 2"},
      {{{"k", "four"}}, "k is four; expected a number"},
      {{{"k", "4x"}}, "k is 4x; expected a number"},
      {{{"k", "-4"}}, "k is -4; expected a number"},
      {{{"m", "0"}}, "m is 0; expected a number from 1"},
      {{{"m", "99999999999"}}, "m is 99999999999; expected a number"},
      {{{"profile", "reed_sol_van"}}, "profile is reed_sol_van; expected one of default cauchy"},
      {{{"profile", "custom"}}, "profile is custom"},
      {{{"layout", "columns"}}, "layout is columns; expected bytes or packets"},
      {{{"profile", "lrc"}, {"layout", "packets"}}, "lrc"},
      {{{"packet_bytes", "512"}}, "packet_bytes is 512; expected 0 with layout bytes"},
      {{{"profile", "cauchy-good"}, {"packet_bytes", "0"}}, "packet_bytes is 0; expected"},
      {{{"l", "2"}}, "local_groups is 2"},
      {{{"profile", "lrc"}, {"k", "4"}, {"m", "2"}, {"l", "3"}}, "local_groups is 3"},
      {{{"backend", "quantum"}}, "backend is \"quantum\""},
      {{{"mapping", "DD__"}}, "mapping is DD__; remove it"},
      {{{"stripe_unit", "0K"}}, "stripe_unit is 0K; expected a multiple of 4096"},
      {{{"crush-osds-per-failure-domain", "2"}, {"crush-num-failure-domains", "2"}},
       CALPE_CEPH_RELEASE < 19 ? "crush-num-failure-domains is set; remove it"
                               : "expected at least k + m = 6 places"},
  };
  for (const Refusal& refusal : refusals) {
    Profile profile = refusal.keys;
    profile["plugin"] = "calpe";
    const Made made = make_code(profile);
    EXPECT_EQ(made.status, -EINVAL) << refusal.reason;
    EXPECT_EQ(made.code, nullptr);
    EXPECT_NE(made.message.find(refusal.reason), std::string::npos)
        << "expected: " << refusal.reason << "\ngot: " << made.message;
  }
}

TEST(CephPlugin, OneOfAnotherVersionIsRefused) {
  const Made made = ceph_host::load_only("calpe_other", CALPE_CEPH_OTHER_VERSION);
  EXPECT_EQ(made.status, -EXDEV);
  EXPECT_NE(made.message.find("claims to be 99.9.9"), std::string::npos) << made.message;
}

}  // namespace
