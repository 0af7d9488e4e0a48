// SPDX-License-Identifier: Apache-2.0
// Objects and chunks in parts, at odd addresses, of odd lengths; and calls for some of the chunks.
#include "distributed/ceph/stripe.hpp"

namespace {

using ceph::bufferlist;
using ceph::bufferptr;
using ceph_host::bytes_of;
using ceph_host::Stripe;

// `bytes` in parts of `part` bytes, each `shift` bytes after an aligned address.
bufferlist in_parts(const std::string& bytes, std::size_t part, unsigned shift) {
  bufferlist list;
  for (std::size_t at = 0; at < bytes.size(); at += part) {
    const std::string here = bytes.substr(at, part);
    const auto length = static_cast<unsigned>(here.size());
    bufferptr buffer(ceph::buffer::create_aligned(length + shift, 64));
    here.copy(buffer.c_str() + shift, here.size());
    list.push_back(bufferptr(buffer, shift, length));
  }
  return list;
}

ceph::ErasureCodeInterfaceRef four_plus_two(const char* profile = "default") {
  return ceph_host::require_code(
      {{"plugin", "calpe"}, {"k", "4"}, {"m", "2"}, {"profile", profile}});
}

TEST(Buffers, AnObjectInPartsHasTheSameChunks) {
  const Stripe stripe(four_plus_two(), 4096, 5);
  for (const std::size_t part : {std::size_t{1}, std::size_t{777}, std::size_t{4096},
                                 std::size_t{5000}, stripe.object.size()}) {
    for (const unsigned shift : {0u, 1u, 31u}) {
      if (part == 1 && shift != 0) continue;
      ceph::Chunks chunks;
      ASSERT_EQ(stripe.code->encode(ceph_host::shards_in(stripe.all()),
                                    in_parts(stripe.object, part, shift), &chunks),
                0);
      for (const auto& [shard, chunk] : stripe.chunks)
        ASSERT_EQ(bytes_of(chunks[shard]), bytes_of(chunk)) << part << " " << shift << " " << shard;
    }
  }
}

TEST(Buffers, ChunksInPartsAreDecoded) {
  const Stripe stripe(four_plus_two(), 4096, 6);
  ceph::Chunks parts;
  for (const int shard : {1, 3, 4, 5})
    parts[shard] = in_parts(bytes_of(stripe.chunks.at(shard)), 1000, 3);
  bufferlist whole;
  ASSERT_EQ(stripe.code->decode_concat(parts, &whole), 0);
  EXPECT_EQ(bytes_of(whole), stripe.object);
  ceph::Chunks decoded;
  ASSERT_EQ(stripe.code->decode({0, 1, 2}, parts, &decoded, 4096), 0);
  EXPECT_EQ(decoded.size(), 3u);
  for (const int shard : {0, 1, 2})
    EXPECT_EQ(bytes_of(decoded[shard]), bytes_of(stripe.chunks.at(shard)));
  for (const int shard : {1, 3, 4, 5})  // inputs are left as they were
    EXPECT_EQ(parts[shard].get_num_buffers(), 5u);
}

TEST(Buffers, AnObjectOfAnyLengthIsPaddedWithZeros) {
  const auto code = four_plus_two();
  for (const unsigned bytes : {1u, 63u, 64u, 65u, 255u, 256u, 257u, 1000u, 4097u, 16385u}) {
    const std::string object = ceph_host::random_bytes(bytes, bytes);
    ceph::Chunks chunks;
    ASSERT_EQ(code->encode({0, 1, 2, 3, 4, 5}, in_parts(object, 500, 1), &chunks), 0);
    const unsigned chunk_bytes = code->get_chunk_size(bytes);
    ASSERT_EQ(chunk_bytes % 64, 0u);
    ASSERT_GE(chunk_bytes * 4, bytes);
    for (const auto& [shard, chunk] : chunks)
      ASSERT_EQ(chunk.length(), chunk_bytes) << bytes;
    chunks.erase(0);
    chunks.erase(2);
    bufferlist whole;
    ASSERT_EQ(code->decode_concat(chunks, &whole), 0);
    std::string expected = object;
    expected.resize(chunk_bytes * std::size_t{4}, '\0');
    ASSERT_EQ(bytes_of(whole), expected) << bytes;
  }
}

TEST(Buffers, NothingIsEncodedAndDecodedAsNothing) {
  const auto code = four_plus_two();
  EXPECT_EQ(code->get_chunk_size(0), 0u);
  ceph::Chunks chunks;
  ASSERT_EQ(code->encode({0, 1, 2, 3, 4, 5}, bufferlist(), &chunks), 0);
  EXPECT_EQ(chunks.size(), 6u);
  chunks.erase(0);
  bufferlist whole;
  EXPECT_EQ(code->decode_concat(chunks, &whole), 0);
  EXPECT_EQ(whole.length(), 0u);
}

TEST(Buffers, OnlyTheWantedChunksAreReturned) {
  const Stripe stripe(four_plus_two(), 4096, 7);
  ceph::Chunks chunks;
  ASSERT_EQ(stripe.code->encode({1, 5}, ceph_host::list_of(stripe.object), &chunks), 0);
  ASSERT_EQ(chunks.size(), 2u);
  for (const int shard : {1, 5})
    EXPECT_EQ(bytes_of(chunks[shard]), bytes_of(stripe.chunks.at(shard)));
}

// Ceph's lrc plugin stacks plugins with these calls and its own buffers.
TEST(Buffers, ChunksOfTheCallerAreFilled) {
  for (const char* const profile : {"default", "hybrid-good"}) {
    const Stripe stripe(four_plus_two(profile), 4096, 8);
    ceph::Chunks chunks = stripe.only(stripe.data());
    for (const int shard : {4, 5})
      chunks[shard] = in_parts(std::string(4096, 'x'), 4096, 0);
    ASSERT_EQ(stripe.code->encode_chunks({4, 5}, &chunks), 0);
    for (const int shard : {4, 5})
      EXPECT_EQ(bytes_of(chunks[shard]), bytes_of(stripe.chunks.at(shard)));

    ceph::Chunks rebuilt = stripe.only(0b110110);
    for (const int shard : {0, 3})
      rebuilt[shard] = in_parts(std::string(4096, 'x'), 4096, 0);
    ASSERT_EQ(stripe.code->decode_chunks({0, 3}, stripe.only(0b110110), &rebuilt), 0);
    for (const int shard : {0, 3})
      EXPECT_EQ(bytes_of(rebuilt[shard]), bytes_of(stripe.chunks.at(shard)));
  }
}

TEST(Buffers, AMapThatHoldsSomethingIsOverwritten) {
  const Stripe stripe(four_plus_two(), 4096, 9);
  ceph::Chunks chunks;
  for (const int shard : {5, 2, 9})
    chunks[shard] = ceph_host::list_of("old");
  ASSERT_EQ(stripe.code->encode(ceph_host::shards_in(stripe.all()),
                                ceph_host::list_of(stripe.object), &chunks),
            0);
  for (const auto& [shard, chunk] : stripe.chunks)
    EXPECT_EQ(bytes_of(chunks[shard]), bytes_of(chunk));
}

// Daemons never do this, because minimum_to_decode refuses it. It must be an error, without output.
TEST(Buffers, TooFewOrUnevenChunksAreAnError) {
  const Stripe stripe(four_plus_two(), 4096, 10);
  bufferlist whole;
  EXPECT_EQ(stripe.code->decode_concat(stripe.only(0b111000), &whole), -EIO);
  ceph::Chunks uneven = stripe.only(0b111100);
  uneven[3] = ceph_host::list_of("short");
  EXPECT_EQ(stripe.code->decode_concat(uneven, &whole), -EIO);
  EXPECT_EQ(whole.length(), 0u);
}

}  // namespace
