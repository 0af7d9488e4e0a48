// SPDX-License-Identifier: Apache-2.0
// A small set of shards in memory, damage to it, and the expected results. Good blocks are
// determined by comparing bytes with the originals, not by checksums.
#pragma once
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/little_endian.hpp"
#include "files/bounded_files.hpp"
#include "files/memory_content.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/write/protect.hpp"
#include "support/random_cases.hpp"

namespace calpe::tests {

using Bytes = BoundedFiles::Bytes;
using Files = std::map<std::string, Bytes>;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  // Returns a number from `least` to `most`, both included.
  std::size_t between(std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(engine_);
  }
  bool one_in(std::size_t count) { return between(1, count) == 1; }
  Bytes bytes(std::size_t count) {
    Bytes made(count);
    for (std::byte& byte : made)
      byte = static_cast<std::byte>(between(0, 255));
    return made;
  }
  // Returns some of 0 .. count-1, in random order.
  std::vector<std::size_t> some(std::size_t of, std::size_t count) {
    std::vector<std::size_t> all(of);
    for (std::size_t i = 0; i < of; ++i)
      all[i] = i;
    std::shuffle(all.begin(), all.end(), engine_);
    all.resize(count);
    return all;
  }

 private:
  std::mt19937_64 engine_;
};

struct SetShape {
  CodeFamily family = CodeFamily::default_code;
  std::uint16_t data_shards = 4;
  std::uint16_t parity_shards = 2;
  std::uint32_t block_bytes = 64;
  std::size_t data_bytes = 5000;
  store::RootKind root_kind = store::RootKind::none;
};

// The original set.
struct Original {
  store::ShardHeader header;
  Bytes content;
  std::vector<Bytes> shards;  // by index
  std::vector<std::string> paths;
};

inline Original protect_in_memory(const SetShape& shape, Chance& chance) {
  BoundedFiles files;
  MemoryContent content(chance.bytes(shape.data_bytes));
  store::ProtectOptions options;
  options.spec.family = shape.family;
  options.spec.data_shards = shape.data_shards;
  options.spec.parity_shards = shape.parity_shards;
  options.targets = {"one", "two"};
  options.name = "set";
  options.block_bytes = shape.block_bytes;
  options.root_kind = shape.root_kind;
  const store::ProtectedSet made = must(store::protect(files, content, options));
  Original original{made.header, content.bytes(), {}, made.paths};
  const Files all = files.all();
  for (const std::string& path : made.paths)
    original.shards.push_back(all.at(path));
  require(all.size() == made.paths.size(), "protect leaves nothing but shards");
  return original;
}

// The same set with another uuid and generation, as an update would write it.
inline void rename_set(Original& original, const Uuid& uuid, std::uint64_t generation) {
  const store::ShardHeader before = original.header;
  const store::Geometry geometry = store::geometry_of(before);
  original.header.uuid = uuid;
  original.header.generation = generation;
  for (std::size_t i = 0; i < original.shards.size(); ++i) {
    Bytes& shard = original.shards[i];
    store::ShardHeader header = original.header;
    header.shard_index = static_cast<ShardIndex>(i);
    const store::HeaderBytes bytes = store::to_bytes(header);
    std::copy(bytes.begin(), bytes.end(), shard.begin());
    std::copy(bytes.begin(), bytes.end(), shard.end() - store::header_bytes);
    for (std::uint64_t stripe = 0; stripe < before.stripe_count; ++stripe) {
      std::byte* at = shard.data() + geometry.checksum_offset(stripe);
      store_little(at, store::renamed_checksum(load_little<std::uint64_t>(at),
                                               {before.uuid, before.generation, stripe, i},
                                               {uuid, generation, stripe, i}));
    }
  }
}

// The remains of a set after damage.
struct Left {
  std::vector<std::vector<bool>> good;  // [shard][stripe]: good in at least one file
  std::vector<std::uint64_t> lost_stripes;
  std::size_t present = 0;  // shards with a good header
  bool is_untouched = true;
};

// True if bytes [at, at + count) of the shard are in the file, shifted by `shift`.
inline bool holds(const Bytes& file, const Bytes& shard, std::uint64_t at, std::size_t count,
                  std::ptrdiff_t shift) {
  const auto place = static_cast<std::ptrdiff_t>(at);
  const auto length = static_cast<std::ptrdiff_t>(count);
  if (place + shift < 0 || place + shift + length > std::ssize(file)) return false;
  return std::equal(shard.begin() + place, shard.begin() + place + length,
                    file.begin() + place + shift);
}

inline Left look_at(const Files& files, const Original& original) {
  const store::ShardHeader& header = original.header;
  const store::Geometry geometry = store::geometry_of(header);
  Left left;
  left.good.assign(original.shards.size(), std::vector<bool>(header.stripe_count, false));
  for (std::size_t i = 0; i < original.shards.size(); ++i) {
    const Bytes& shard = original.shards[i];
    bool is_present = false;
    bool is_whole = false;
    for (const auto& file : files) {
      const Bytes& bytes = file.second;
      const std::ptrdiff_t more = std::ssize(bytes) - std::ssize(shard);
      const bool front = holds(bytes, shard, 0, store::header_bytes, 0);
      const bool back =
          holds(bytes, shard, shard.size() - store::header_bytes, store::header_bytes, more);
      if (!front && !back) continue;
      is_present = true;
      is_whole = is_whole || bytes == shard;
      // If the back header is in place, the length tells how far the bytes before it were shifted.
      const std::ptrdiff_t shift = back ? more : 0;
      for (std::uint64_t stripe = 0; stripe < header.stripe_count; ++stripe) {
        const auto is_block = [&](std::ptrdiff_t by) {
          return holds(bytes, shard, geometry.block_offset(stripe), header.block_bytes, by);
        };
        const auto is_checksum = [&](std::ptrdiff_t by) {
          return holds(bytes, shard, geometry.checksum_offset(stripe), 8, by);
        };
        const bool is_good = (is_block(0) && (is_checksum(0) || is_checksum(shift))) ||
                             (is_block(shift) && is_checksum(shift));
        if (is_good) left.good[i][stripe] = true;
      }
    }
    left.present += is_present ? 1 : 0;
    left.is_untouched = left.is_untouched && is_whole;
  }
  for (std::uint64_t stripe = 0; stripe < header.stripe_count; ++stripe) {
    std::size_t count = 0;
    for (const auto& shard : left.good)
      count += shard[stripe] ? 1 : 0;
    if (count < header.spec.data_shards) left.lost_stripes.push_back(stripe);
  }
  return left;
}

}  // namespace calpe::tests
