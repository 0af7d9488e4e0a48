// SPDX-License-Identifier: Apache-2.0
// Ceph 20's sets and maps of shards cross the border between programs: the shipped isa plugin reads
// and fills those that we declare, and gives the same bytes as ours.
#include "distributed/ceph/stripe.hpp"

namespace {

using ceph::bufferptr;
using ceph::ShardBuffers;
using ceph_host::buffer_of;
using ceph_host::bytes_in;
using ceph_host::bytes_of;
using ceph_host::Stripe;

constexpr unsigned data_count = 5, parity_count = 3, chunk_count = data_count + parity_count;
constexpr unsigned chunk_bytes = 8192;

// Codes that write the same parity.
class IsaShards : public testing::Test {
 protected:
  const ceph::ErasureCodeInterfaceRef ours_ =
      ceph_host::require_code({{"plugin", "calpe"}, {"k", "5"}, {"m", "3"}, {"profile", "cauchy"}});
  const ceph::ErasureCodeInterfaceRef theirs_ =
      ceph_host::require_code({{"plugin", "isa"}, {"k", "5"}, {"m", "3"}, {"technique", "cauchy"}});
  const Stripe stripe_{theirs_, chunk_bytes, 21};

  std::string chunk(unsigned shard) const {
    return bytes_of(stripe_.chunks.at(static_cast<int>(shard)));
  }
};

TEST_F(IsaShards, ChunksAreEncodedAlike) {
  for (const unsigned absent : {chunk_count, 0u, 3u}) {  // none, or one that is zeros
    std::vector<std::string> parity[2];
    for (const bool is_ours : {true, false}) {
      ShardBuffers in(chunk_count), out(chunk_count);
      for (unsigned shard = 0; shard < data_count; ++shard) {
        if (shard != absent) in.put(shard) = buffer_of(chunk(shard));
      }
      for (unsigned shard = data_count; shard < chunk_count; ++shard)
        out.put(shard) = buffer_of(std::string(chunk_bytes, 'x'));
      ASSERT_EQ((is_ours ? ours_ : theirs_)->encode_chunks(in, out), 0);
      for (unsigned shard = data_count; shard < chunk_count; ++shard)
        parity[is_ours ? 0 : 1].push_back(bytes_in(out.at(shard)));
    }
    EXPECT_EQ(parity[0], parity[1]) << absent;
    EXPECT_EQ(parity[0][0] == chunk(data_count), absent == chunk_count);
  }
}

TEST_F(IsaShards, DeltasAreAppliedAlike) {
  for (unsigned changed = 0; changed < data_count; ++changed) {
    const bufferptr after = buffer_of(ceph_host::random_bytes(chunk_bytes, changed));
    std::string deltas[2];
    std::vector<std::string> parity[2];
    for (const bool is_ours : {true, false}) {
      const auto& code = is_ours ? ours_ : theirs_;
      bufferptr delta = buffer_of(std::string(chunk_bytes, 'x'));
      code->encode_delta(buffer_of(chunk(changed)), after, &delta);
      deltas[is_ours ? 0 : 1] = bytes_in(delta);
      ShardBuffers in(chunk_count), out(chunk_count);
      in.put(changed) = delta;
      for (unsigned shard = data_count; shard < chunk_count; ++shard)
        out.put(shard) = buffer_of(chunk(shard));
      code->apply_delta(in, out);
      for (unsigned shard = data_count; shard < chunk_count; ++shard)
        parity[is_ours ? 0 : 1].push_back(bytes_in(out.at(shard)));
    }
    EXPECT_EQ(deltas[0], deltas[1]);
    EXPECT_EQ(parity[0], parity[1]) << changed;
    EXPECT_NE(parity[0][0], chunk(data_count));
  }
}

TEST_F(IsaShards, LossesAreRebuiltAlike) {
  for (std::uint32_t lost = 1; lost <= stripe_.all(); ++lost) {
    if (ceph_host::shard_count_of(lost) > static_cast<int>(parity_count)) continue;
    for (const auto& code : {ours_, theirs_}) {
      ShardBuffers in(chunk_count), out(chunk_count);
      shard_id_set want, available, minimum;
      for (unsigned shard = 0; shard < chunk_count; ++shard) {
        const bool is_lost = (lost >> shard & 1) != 0;
        (is_lost ? want : available).insert(shard);
        (is_lost ? out : in).put(shard) =
            buffer_of(is_lost ? std::string(chunk_bytes, 'x') : chunk(shard));
      }
      ASSERT_EQ(code->minimum_to_decode(want, available, minimum, nullptr), 0);
      ASSERT_EQ(ceph_host::shard_count_of(static_cast<std::uint32_t>(minimum.first_word())),
                static_cast<int>(data_count));
      ASSERT_EQ(code->decode_chunks(want, in, out), 0) << lost;
      for (const int shard : ceph_host::shards_in(lost))
        ASSERT_EQ(bytes_in(out.at(static_cast<unsigned>(shard))),
                  chunk(static_cast<unsigned>(shard)))
            << lost << " " << shard;
    }
  }
}

TEST_F(IsaShards, ListsAreEncodedAndDecodedAlike) {
  ceph::ShardLists all(chunk_count), some(chunk_count), decoded(chunk_count);
  shard_id_set every, want;
  for (unsigned shard = 0; shard < chunk_count; ++shard)
    every.insert(shard);
  ASSERT_EQ(theirs_->encode(every, ceph_host::list_of(stripe_.object), &all), 0);
  ASSERT_EQ(all.size(), chunk_count);
  for (unsigned shard = 2; shard < chunk_count; ++shard)
    some.put(shard) = all.at(shard);
  want.insert(0);
  want.insert(1);
  ASSERT_EQ(ours_->decode(want, some, &decoded, chunk_bytes), 0);
  for (const unsigned shard : {0u, 1u})
    EXPECT_EQ(bytes_of(decoded.at(shard)), chunk(shard));
}

TEST_F(IsaShards, FlagsAreThoseOfAnOptimisedPool) {
  ceph::ErasureCodeInterfaceRef code =
      ceph_host::require_code({{"plugin", "isa"}, {"k", "5"}, {"m", "3"}});
  EXPECT_EQ(ours_->get_supported_optimizations(), code->get_supported_optimizations());
  EXPECT_EQ(ours_->get_optimizations_flags_string(), code->get_optimizations_flags_string());
}

}  // namespace
