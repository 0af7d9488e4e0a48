// SPDX-License-Identifier: Apache-2.0
// The functions that Ceph 20 added, compared with those that all releases have. Built with the
// interface of 20 on every release, so that machines with an older Ceph test this code too; the
// plugin in a host of Ceph 20 is tested by isa_shards_test.cpp.
#include <bitset>
#include <cerrno>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

#include "ceph/shard_erasure_code.hpp"
#include "distributed/ceph/bytes.hpp"

namespace {

using calpe_ceph::ShardErasureCode;
using calpe_ceph::ShardMask;
using ceph::bufferptr;
using ceph::Chunks;
using ceph::ShardBuffers;
using ceph_host::buffer_of;
using ceph_host::bytes_in;
using ceph_host::bytes_of;
using ceph_host::list_of;
using ceph_host::random_bytes;
using Profile = ceph::ErasureCodeProfile;

constexpr unsigned chunk_bytes = 4096;

int make(ShardErasureCode& code, Profile profile, std::string& message) {
  std::ostringstream errors;
  const int status = code.init(profile, &errors);
  message = errors.str();
  return status;
}

std::set<int> ints_in(ShardMask mask) {
  std::set<int> shards;
  for (int shard = 0; shard < 32; ++shard) {
    if ((mask >> shard & 1) != 0) shards.insert(shard);
  }
  return shards;
}

shard_id_set set_of(ShardMask mask) {
  shard_id_set shards;
  for (const int shard : ints_in(mask))
    shards.insert(static_cast<unsigned>(shard));
  return shards;
}

// A code and the chunks of one stripe, which the functions of older releases encoded.
struct Coded {
  ShardErasureCode code;
  std::vector<std::string> chunks;

  explicit Coded(const Profile& profile, unsigned seed = 1) {
    std::string message;
    EXPECT_EQ(make(code, profile, message), 0) << message;
    chunks = encode(random_bytes(std::size_t{chunk_bytes} * code.get_data_chunk_count(), seed));
  }

  unsigned data_count() const { return code.get_data_chunk_count(); }
  ShardMask all() const { return calpe_ceph::first_shards(code.get_chunk_count()); }
  ShardMask data() const { return calpe_ceph::first_shards(data_count()); }
  ShardMask parity() const { return all() & ~data(); }

  std::vector<std::string> encode(const std::string& object) {
    Chunks encoded;
    EXPECT_EQ(code.encode(ints_in(all()), list_of(object), &encoded), 0);
    std::vector<std::string> parts;
    for (const auto& [shard, chunk] : encoded)
      parts.push_back(bytes_of(chunk));
    return parts;
  }

  // The chunks after data shards of the mask are replaced.
  std::vector<std::string> with_data(ShardMask mask, const std::vector<std::string>& replacement) {
    std::string object;
    for (unsigned shard = 0; shard < data_count(); ++shard)
      object += (mask >> shard & 1) != 0 ? replacement[shard] : chunks[shard];
    return encode(object);
  }

  void fill(ShardBuffers& buffers, ShardMask mask) const {
    for (const int shard : ints_in(mask))
      buffers.put(static_cast<unsigned>(shard)) =
          buffer_of(chunks[static_cast<std::size_t>(shard)]);
  }
  void fill_with(ShardBuffers& buffers, ShardMask mask, char letter) const {
    for (const int shard : ints_in(mask))
      buffers.put(static_cast<unsigned>(shard)) = buffer_of(std::string(chunk_bytes, letter));
  }
};

Profile profile_of(unsigned data, unsigned parity, const std::string& name = "default") {
  return {{"k", std::to_string(data)}, {"m", std::to_string(parity)}, {"profile", name}};
}

const Profile lrc = {{"k", "6"}, {"m", "4"}, {"profile", "lrc"}, {"l", "2"}};

void expect_equal(const ShardBuffers& buffers, const std::vector<std::string>& chunks,
                  ShardMask mask) {
  for (const int shard : ints_in(mask)) {
    ASSERT_EQ(bytes_in(buffers.at(static_cast<unsigned>(shard))),
              chunks[static_cast<std::size_t>(shard)])
        << "chunk " << shard;
  }
}

class EncodeShards : public testing::TestWithParam<Profile> {};

// A chunk that an object does not reach has no buffer.
TEST_P(EncodeShards, AbsentDataAreZeros) {
  Coded coded(GetParam());
  const std::vector<std::string> zeros(coded.data_count(), std::string(chunk_bytes, '\0'));
  for (ShardMask data = 0; data <= coded.data(); ++data) {
    const auto expected = coded.with_data(coded.data() & ~data, zeros);
    for (ShardMask parity = coded.parity(); parity != 0; parity = (parity - 1) & coded.parity()) {
      const std::size_t capacity = coded.code.get_chunk_count();
      ShardBuffers in(capacity), out(capacity);
      coded.fill(in, data);
      coded.fill_with(out, parity, 'x');
      ASSERT_EQ(coded.code.encode_chunks(in, out), 0);
      ASSERT_NO_FATAL_FAILURE(expect_equal(out, expected, parity)) << data << " " << parity;
    }
  }
}

class Deltas : public testing::TestWithParam<Profile> {};

TEST_P(Deltas, GiveTheParityOfTheNewData) {
  Coded coded(GetParam());
  const Coded other(GetParam(), 2);
  for (ShardMask changed = 1; changed <= coded.data(); ++changed) {
    const auto expected = coded.with_data(changed, other.chunks);
    for (ShardMask parity = coded.parity(); parity != 0; parity = (parity - 1) & coded.parity()) {
      const std::size_t capacity = coded.code.get_chunk_count();
      ShardBuffers in(capacity), out(capacity);
      for (const int shard : ints_in(changed)) {
        const auto index = static_cast<std::size_t>(shard);
        bufferptr& delta = in.put(static_cast<unsigned>(shard));
        delta = buffer_of(std::string(chunk_bytes, 'x'));
        coded.code.encode_delta(buffer_of(coded.chunks[index]), buffer_of(other.chunks[index]),
                                &delta);
      }
      coded.fill(out, parity);
      coded.code.apply_delta(in, out);
      ASSERT_NO_FATAL_FAILURE(expect_equal(out, expected, parity)) << changed << " " << parity;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Profile>& info) {
  std::string name;
  for (const auto& [key, value] : info.param)
    name += key.substr(0, 1) + value;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Codes, EncodeShards,
                         testing::Values(profile_of(4, 2), profile_of(2, 1), profile_of(6, 3),
                                         profile_of(5, 5), profile_of(4, 2, "vandermonde"), lrc),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Codes, Deltas,
                         testing::Values(profile_of(4, 2), profile_of(2, 1), profile_of(6, 3),
                                         profile_of(5, 5), profile_of(4, 2, "vandermonde"), lrc),
                         name_of);

TEST(Delta, MayReplaceTheOldData) {
  Coded coded(profile_of(4, 2));
  const bufferptr after = buffer_of(random_bytes(chunk_bytes, 7));
  bufferptr separate = buffer_of(std::string(chunk_bytes, 'x'));
  coded.code.encode_delta(buffer_of(coded.chunks[0]), after, &separate);
  bufferptr in_place = buffer_of(coded.chunks[0]);
  const bufferptr before = in_place;  // the same memory
  coded.code.encode_delta(before, after, &in_place);
  EXPECT_EQ(bytes_in(in_place), bytes_in(separate));
}

// Ceph's description of apply_delta has parity in both maps.
TEST(Delta, ParityAmongTheInputsIsIgnored) {
  Coded coded(profile_of(4, 2));
  ShardBuffers deltas(6), with_parity(6), out(6), other_out(6);
  deltas.put(1) = buffer_of(random_bytes(chunk_bytes, 8));
  with_parity.put(1) = deltas.at(1);
  coded.fill(out, coded.parity());
  coded.fill(other_out, coded.parity());
  for (const unsigned shard : {4u, 5u})
    with_parity.put(shard) = other_out.at(shard);
  coded.code.apply_delta(deltas, out);
  coded.code.apply_delta(with_parity, other_out);
  for (const unsigned shard : {4u, 5u})
    EXPECT_EQ(bytes_in(out.at(shard)), bytes_in(other_out.at(shard)));
}

TEST(Delta, StopsBeforeParityIsWrong) {
  Coded coded(profile_of(4, 2));
  bufferptr delta = buffer_of(std::string(chunk_bytes, 'x'));
  const bufferptr half = buffer_of(std::string(chunk_bytes / 2, 'x'));
  EXPECT_THROW(coded.code.encode_delta(half, delta, &delta), std::runtime_error);
  ShardBuffers in(6), out(6);
  in.put(0) = half;
  coded.fill(out, coded.parity());
  EXPECT_THROW(coded.code.apply_delta(in, out), std::runtime_error);
  ASSERT_NO_FATAL_FAILURE(expect_equal(out, coded.chunks, coded.parity()));
}

TEST(Delta, NothingChangesNothing) {
  Coded coded(profile_of(4, 2));
  ShardBuffers none(6), out(6);
  coded.fill(out, coded.parity());
  coded.code.apply_delta(none, out);
  ASSERT_NO_FATAL_FAILURE(expect_equal(out, coded.chunks, coded.parity()));
}

TEST(DecodeShards, EveryLossIsRebuilt) {
  for (const auto& [data, parity, patterns] :
       {std::tuple(4u, 2u, 21u), std::tuple(8u, 3u, 231u), std::tuple(5u, 5u, 637u)}) {
    Coded coded(profile_of(data, parity));
    unsigned rebuilt = 0;
    for (ShardMask lost = 1; lost <= coded.all(); ++lost) {
      const auto losses = static_cast<unsigned>(std::bitset<32>(lost).count());
      if (losses > parity + 1) continue;
      const std::size_t capacity = coded.code.get_chunk_count();
      ShardBuffers in(capacity), out(capacity);
      coded.fill(in, coded.all() & ~lost);
      coded.fill_with(out, lost, 'x');
      const int status = coded.code.decode_chunks(set_of(lost), in, out);
      if (losses > parity) {
        ASSERT_EQ(status, -EIO) << lost;
        continue;
      }
      ASSERT_EQ(status, 0) << lost;
      ASSERT_NO_FATAL_FAILURE(expect_equal(out, coded.chunks, lost)) << lost;
      ++rebuilt;
    }
    EXPECT_EQ(rebuilt, patterns);
  }
}

TEST(DecodeShards, BuffersOfOtherLengthAreRefused) {
  Coded coded(profile_of(4, 2));
  ShardBuffers in(6), out(6);
  coded.fill(in, 0b111110);
  in.put(1) = buffer_of("short");
  coded.fill_with(out, 1, 'x');
  EXPECT_EQ(coded.code.decode_chunks(set_of(1), in, out), -EINVAL);
  ShardBuffers all_data(6), parity(6);
  coded.fill(all_data, coded.data());
  parity.put(4) = buffer_of("short");
  EXPECT_EQ(coded.code.encode_chunks(all_data, parity), -EINVAL);
  all_data.put(0) = bufferptr();
  coded.fill(parity, coded.parity());
  EXPECT_EQ(coded.code.encode_chunks(all_data, parity), -EINVAL);
}

TEST(Minimum20, NamesTheSameShardsAsTheOlderFunction) {
  for (const Profile& profile : {profile_of(4, 2), lrc}) {
    Coded coded(profile);
    const ShardMask step = coded.code.get_chunk_count() > 6 ? 7 : 1;
    for (ShardMask available = 0; available <= coded.all(); available += step) {
      for (ShardMask want = 1; want <= coded.all(); want += step) {
        ceph::SubChunks older;
        const int expected =
            coded.code.minimum_to_decode(ints_in(want), ints_in(available), &older);
        shard_id_set minimum;
        ceph::ShardSubChunks parts(coded.code.get_chunk_count());
        ASSERT_EQ(coded.code.minimum_to_decode(set_of(want), set_of(available), minimum, &parts),
                  expected);
        if (expected != 0) continue;
        std::set<int> shards;
        for (const auto& [shard, part] : older) {
          shards.insert(shard);
          ASSERT_EQ(parts.at(static_cast<unsigned>(shard)), part);
        }
        ASSERT_EQ(ints_in(static_cast<ShardMask>(minimum.first_word())), shards);
        ASSERT_EQ(parts.size(), shards.size());
      }
    }
  }
}

TEST(Minimum20, CostsDecideAmongEquals) {
  Coded coded(profile_of(4, 2));
  shard_id_map<int> costs(6);
  for (const unsigned shard : {1u, 2u, 3u, 4u, 5u})
    costs.put(shard) = shard == 1 ? 9 : 1;
  shard_id_set minimum;
  ASSERT_EQ(coded.code.minimum_to_decode_with_cost(set_of(1), costs, &minimum), 0);
  EXPECT_EQ(minimum.first_word(), 0b111100u);
}

TEST(Lists, AreTheSameAsInTheOlderFunctions) {
  Coded coded(profile_of(4, 2));
  ceph::ShardLists encoded(6), some(6), decoded(6);
  std::string object;
  for (unsigned shard = 0; shard < 4; ++shard)
    object += coded.chunks[shard];
  ASSERT_EQ(coded.code.encode(set_of(0b110011), list_of(object), &encoded), 0);
  EXPECT_EQ(encoded.size(), 4u);
  ceph::Chunks survivors;
  for (const unsigned shard : {0u, 1u, 4u, 5u}) {
    ASSERT_EQ(bytes_of(encoded.at(shard)), coded.chunks[shard]);
    some.put(shard) = encoded.at(shard);
    survivors[static_cast<int>(shard)] = encoded.at(shard);
  }
  ASSERT_EQ(coded.code.decode(set_of(0b001100), some, &decoded, chunk_bytes), 0);
  for (const unsigned shard : {2u, 3u})
    EXPECT_EQ(bytes_of(decoded.at(shard)), coded.chunks[shard]);
  ceph::bufferlist wanted;
  ASSERT_EQ(coded.code.decode_concat({1, 3}, survivors, &wanted), 0);
  EXPECT_EQ(bytes_of(wanted), coded.chunks[1] + coded.chunks[3]);
}

// An optimised pool of another code would lose data: its daemons read any k shards, and parts of
// chunks.
TEST(Optimizations, OnlyBytesOfAnMdsCode) {
  const auto flags_of = [](const Profile& profile) {
    ShardErasureCode code;
    std::string message;
    EXPECT_EQ(make(code, profile, message), 0) << message;
    return code.get_optimizations_flags_string();
  };
  const std::string all = "partialread,partialwrite,zeroinout,paritydelta,optimizedsupport";
  for (const char* const name : {"default", "cauchy", "vandermonde", "lch"})
    EXPECT_EQ(flags_of(profile_of(4, 2, name)), all) << name;
  EXPECT_EQ(flags_of(lrc), "partialread,partialwrite,zeroinout,paritydelta");
  EXPECT_EQ(flags_of(profile_of(4, 2, "hybrid-good")), "partialread,zeroinout");
}

TEST(Optimizations, AnyPartOfAChunkCanBeCoded) {
  Coded coded(profile_of(4, 2));
  EXPECT_EQ(coded.code.get_minimum_granularity(), 1u);
  ShardErasureCode packets;
  std::string message;
  ASSERT_EQ(make(packets, profile_of(4, 2, "hybrid-good"), message), 0);
  EXPECT_EQ(packets.get_minimum_granularity(), 8u * 512);
}

TEST(Width, Up32ShardsAreCoded) {
  Coded coded(profile_of(26, 6));
  ASSERT_EQ(coded.all(), 0xffff'ffffu);
  for (const ShardMask lost : {0x3fu, 0xfc00'0000u, 0x8000'0001u, 0x2222'0202u}) {
    ShardBuffers in(32), out(32);
    coded.fill(in, coded.all() & ~lost);
    coded.fill_with(out, lost, 'x');
    ASSERT_EQ(coded.code.decode_chunks(set_of(lost), in, out), 0);
    ASSERT_NO_FATAL_FAILURE(expect_equal(out, coded.chunks, lost)) << lost;
  }
  ShardErasureCode wider;
  std::string message;
  EXPECT_EQ(make(wider, profile_of(27, 6), message), -EINVAL);
  EXPECT_EQ(message, "k + m is 33; expected at most 32; clients in the kernel accept no more\n");
}

TEST(FailureDomains, MustHoldAllChunks) {
  const auto refusal = [](const char* domains, const char* osds) {
    Profile profile = profile_of(4, 2);
    profile["stripe_unit"] = "4096";  // no note about it
    if (domains != nullptr) profile["crush-num-failure-domains"] = domains;
    if (osds != nullptr) profile["crush-osds-per-failure-domain"] = osds;
    ShardErasureCode code;
    std::string message;
    const int status = make(code, profile, message);
    EXPECT_EQ(status != 0, !message.empty()) << message;
    return message;
  };
  EXPECT_EQ(refusal("3", "2"), "");
  EXPECT_EQ(refusal("6", nullptr), "");
  EXPECT_EQ(refusal("0", "0"), "");
  EXPECT_EQ(refusal("0", "1"), "");
  EXPECT_EQ(refusal("2", "2"),
            "crush-num-failure-domains is 2 and crush-osds-per-failure-domain is 2; expected at "
            "least k + m = 6 places, as the product of both\n");
  EXPECT_EQ(refusal(nullptr, "2"),
            "crush-num-failure-domains is 0 and crush-osds-per-failure-domain is 2; expected at "
            "least k + m = 6 places, as the product of both\n");
  EXPECT_EQ(refusal("three", nullptr),
            "crush-num-failure-domains is three; expected a number from 0 to 65536\n");
}

}  // namespace
