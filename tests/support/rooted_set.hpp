// SPDX-License-Identifier: Apache-2.0
// A set with roots in memory, and changes by an attacker who knows the format but not the key.
#pragma once
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/little_endian.hpp"
#include "files/memory_content.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "store/format/root_hash.hpp"
#include "store/write/protect.hpp"
#include "support/memory_files.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

inline std::vector<std::byte> sample_key() {
  const std::string_view text = "0123456789abcdef\n";
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct RootedShape {
  std::uint16_t data_shards = 3;
  std::uint16_t parity_shards = 2;
  std::size_t data_bytes = 3000;
  store::RootKind root_kind = store::RootKind::hmac;
  std::uint64_t seed = 1;
  unsigned jobs = 1;
};

inline store::ProtectOptions rooted_options(const RootedShape& shape) {
  store::ProtectOptions options;
  options.spec.data_shards = shape.data_shards;
  options.spec.parity_shards = shape.parity_shards;
  options.targets = {"disk"};
  options.name = "photos";
  options.block_bytes = 64;
  options.uuid[0] = std::byte{7};
  options.jobs = shape.jobs;
  options.root_kind = shape.root_kind;
  if (shape.root_kind == store::RootKind::hmac) options.key = sample_key();
  return options;
}

inline std::vector<std::byte> rooted_data(const RootedShape& shape) {
  std::vector<std::byte> data(shape.data_bytes);
  conformance::Random(shape.seed).fill(data);
  return data;
}

class RootedSet {
 public:
  explicit RootedSet(const RootedShape& shape = {}) : content_(rooted_data(shape)) {
    const auto made = store::protect(files_, content_, rooted_options(shape));
    EXPECT_TRUE(made.has_value()) << made.error().message;
    header_ = made->header;
    paths_ = made->paths;
    whole_ = files_.images();
  }

  MemoryFiles& files() { return files_; }
  const store::ShardHeader& header() const { return header_; }
  const std::string& path(std::size_t shard) const { return paths_[shard]; }
  std::size_t shard_count() const { return paths_.size(); }
  const std::vector<std::byte>& content() const { return content_.bytes(); }
  bool is_whole() const { return files_.images() == whole_; }
  const Bytes& image(std::size_t shard) const { return whole_.at(paths_[shard]); }

  store::ShardHeader header_of(std::size_t shard) {
    return *store::parse_header(std::span(files_.at(path(shard))).first(store::header_bytes));
  }
  // Both copies, with their checksums.
  template <class Change>
  void forge_header(std::size_t shard, const Change& change) {
    store::ShardHeader header = header_of(shard);
    change(header);
    const store::HeaderBytes bytes = store::to_bytes(header);
    Bytes& file = files_.at(path(shard));
    std::copy(bytes.begin(), bytes.end(), file.begin());
    std::copy(bytes.begin(), bytes.end(), file.end() - store::header_bytes);
  }
  template <class Change>
  void forge_headers(const Change& change) {
    for (std::size_t shard = 0; shard < shard_count(); ++shard) {
      if (files_.has(path(shard))) forge_header(shard, change);
    }
  }
  // A block with its checksum.
  void forge_block(std::size_t shard, std::uint64_t stripe) {
    const store::Geometry geometry = store::geometry_of(header_);
    Bytes& file = files_.at(path(shard));
    const auto block = std::span(file).subspan(geometry.block_offset(stripe), header_.block_bytes);
    block[5] ^= std::byte{1};
    const std::uint64_t checksum =
        store::block_checksum({header_.uuid, header_.generation, stripe, shard}, block);
    store_little(file.data() + geometry.checksum_offset(stripe), checksum);
  }
  void damage_block(std::size_t shard, std::uint64_t stripe) {
    const store::Geometry geometry = store::geometry_of(header_);
    files_.at(path(shard))[geometry.block_offset(stripe)] ^= std::byte{1};
  }

 private:
  MemoryFiles files_;
  MemoryContent content_;
  store::ShardHeader header_;
  std::vector<std::string> paths_;
  std::map<std::string, Bytes> whole_;
};

}  // namespace calpe::tests
