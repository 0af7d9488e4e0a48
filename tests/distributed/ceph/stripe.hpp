// SPDX-License-Identifier: Apache-2.0
// One encoded object, and the calls of a daemon for lost chunks.
#pragma once
#include <bitset>
#include <cstdint>
#include <gtest/gtest.h>

#include "distributed/ceph/plugin_host.hpp"

namespace ceph_host {

inline std::set<int> shards_in(std::uint32_t mask) {
  std::set<int> shards;
  for (int shard = 0; mask >> shard != 0; ++shard) {
    if ((mask >> shard & 1) != 0) shards.insert(shard);
  }
  return shards;
}

inline int shard_count_of(std::uint32_t mask) {
  return static_cast<int>(std::bitset<32>(mask).count());
}

inline ceph::ErasureCodeInterfaceRef require_code(Profile profile) {
  Made made = make_code(profile);
  EXPECT_EQ(made.status, 0) << made.message;
  return made.code;
}

struct Stripe {
  ceph::ErasureCodeInterfaceRef code;
  std::string object;  // a multiple of k chunks long
  ceph::Chunks chunks;

  Stripe(ceph::ErasureCodeInterfaceRef made, unsigned chunk_bytes, unsigned seed)
      : code(std::move(made)),
        object(random_bytes(code->get_data_chunk_count() * std::size_t{chunk_bytes}, seed)) {
    EXPECT_EQ(code->encode(shards_in(all()), list_of(object), &chunks), 0);
    EXPECT_EQ(chunks.size(), code->get_chunk_count());
    for (const auto& [shard, chunk] : chunks)
      EXPECT_EQ(chunk.length(), chunk_bytes) << "chunk " << shard;
  }

  std::uint32_t all() const { return (1u << code->get_chunk_count()) - 1; }
  std::uint32_t data() const { return (1u << code->get_data_chunk_count()) - 1; }

  // The result of minimum_to_decode as a mask; 0 if it refuses.
  std::uint32_t minimum(std::uint32_t want, std::uint32_t available) const {
    ceph::SubChunks named;
    if (code->minimum_to_decode(shards_in(want), shards_in(available), &named) != 0) return 0;
    std::uint32_t mask = 0;
    for (const auto& [shard, parts] : named) {
      EXPECT_EQ(parts, (std::vector<std::pair<int, int>>{{0, 1}}));
      mask |= 1u << shard;
    }
    EXPECT_EQ(mask & ~available, 0u) << "names a chunk that is not available";
    return mask;
  }

  ceph::Chunks only(std::uint32_t mask) const {
    ceph::Chunks some;
    for (const int shard : shards_in(mask))
      some[shard] = chunks.at(shard);
    return some;
  }

  // Decodes the object and each lost chunk from only these chunks, with `reader` (this code or
  // another one that writes the same bytes).
  bool reads_back(ceph::ErasureCodeInterface& reader, std::uint32_t from) const {
    ceph::bufferlist whole;
    return reader.decode_concat(only(from), &whole) == 0 && bytes_of(whole) == object;
  }
  bool rebuilds(ceph::ErasureCodeInterface& reader, std::uint32_t from, std::uint32_t want) const {
    ceph::Chunks decoded;
    if (reader.decode(shards_in(want), only(from), &decoded, 0) != 0) return false;
    for (const int shard : shards_in(want)) {
      if (bytes_of(decoded[shard]) != bytes_of(chunks.at(shard))) return false;
    }
    return true;
  }
};

}  // namespace ceph_host
