// SPDX-License-Identifier: Apache-2.0
#include "ceph/identify_profile.hpp"

#include "support/ceph_stripes.hpp"

namespace calpe::ceph {
namespace {

constexpr std::size_t chunk = 4096;

CodeSpec packets() {
  return {.family = CodeFamily::cauchy_good,
          .layout = Layout::packets,
          .data_shards = 4,
          .parity_shards = 2,
          .packet_bytes = 512};
}

TEST(CephIdentify, a_wrong_shard_does_not_hide_the_code) {
  const CodeSpec bytes{.family = CodeFamily::cauchy, .data_shards = 4, .parity_shards = 3};
  for (const CodeSpec& spec : {bytes, packets()}) {
    const Codec codec = *Codec::create(spec);
    CephShards shards =
        tests::ceph_shards(codec, chunk, tests::random_content(spec.data_shards * chunk * 3, 1));
    // Change one whole stripe, so that every sample of it is inconsistent.
    for (std::size_t i = 0; i < chunk; ++i)
      (*shards[1])[i] ^= std::byte(1 + i * 13);
    const Result<store::Identification> found = identify_object(shards, {.data_shards = 4});
    ASSERT_TRUE(found) << found.error().message;
    const char* const name = spec.layout == Layout::bytes ? "cauchy" : "cauchy-good";
    EXPECT_NE(std::ranges::find(found->profiles, name), found->profiles.end());
    EXPECT_EQ(found->spec.packet_bytes, spec.packet_bytes);
    const Codec again = *codec_of(*found);
    EXPECT_EQ(check_object(again, chunk, shards)->wrong.at(0).shard, 1);
  }
}

TEST(CephIdentify, rows_without_a_profile_make_a_codec) {
  const std::vector<std::uint16_t> rows = {1, 2, 3, 7, 9, 200};
  const CodeSpec spec{.family = CodeFamily::custom, .data_shards = 3, .parity_shards = 2};
  const Codec codec = *Codec::create_from_matrix(spec, rows);
  const CephShards shards =
      tests::ceph_shards(codec, chunk, tests::random_content(3 * chunk * 2, 2));
  const store::Identification found = *identify_object(shards, {});
  EXPECT_EQ(found.rows, rows);
  EXPECT_TRUE(check_object(*codec_of(found), chunk, shards)->is_consistent());
}

TEST(CephIdentify, requires_all_shards) {
  const Codec codec = *Codec::create(packets());
  CephShards shards = tests::ceph_shards(codec, chunk, tests::random_content(4 * chunk, 3));
  (*shards[2]).pop_back();
  EXPECT_EQ(identify_object(shards, {}).error().message,
            "shard 2 has 4095 bytes; expected 4096 like shard 0");
  shards[2].reset();
  EXPECT_EQ(identify_object(shards, {}).error().message.substr(0, 19), "shard 2 is missing;");
  EXPECT_EQ(identify_object(CephShards(6, std::vector<std::byte>(chunk)), {}).error().code,
            ErrorCode::ambiguous);
}

}  // namespace
}  // namespace calpe::ceph
