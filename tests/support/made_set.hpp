// SPDX-License-Identifier: Apache-2.0
// Shard files written according to docs/format.md, so that readers are tested against the
// specification and not against protect(). Only the checksum function, which has its own tests, and
// the parity rows come from the library.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "store/format/block_checksum.hpp"
#include "support/memory_files.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

struct SetShape {
  std::uint16_t data_shards = 3;
  std::uint16_t parity_shards = 2;
  std::uint32_t block_bytes = 64;
  std::uint64_t stripes = 7;
  std::uint64_t generation = 1;
  std::uint8_t uuid = 1;  // its first byte
  std::uint64_t seed = 1;
  CodeFamily family = CodeFamily::hybrid;
  std::uint16_t local_groups = 0;
  std::uint8_t kind = 0;
  std::string name = "photos";
};

class MadeSet {
 public:
  explicit MadeSet(const SetShape& shape) : shape_(shape) {
    CodeSpec spec = {.family = shape.family,
                     .data_shards = shape.data_shards,
                     .parity_shards = shape.parity_shards,
                     .local_groups = shape.local_groups};
    spec_ = Codec::create(spec)->spec();
    const std::size_t capacity = shape.stripes * shape.data_shards * shape.block_bytes;
    content_.resize(capacity);
    conformance::Random random(shape.seed);
    random.fill(content_);
    const std::size_t unused = capacity == 0 ? 0 : 17;  // makes the last stripe partial
    std::fill(content_.end() - static_cast<std::ptrdiff_t>(unused), content_.end(), std::byte{0});
    content_bytes_ = capacity - unused;
    const auto rows = *parity_rows(spec_);
    for (std::size_t i = 0; i < shard_count(); ++i) {
      images_.push_back(make_shard(i, rows));
    }
  }

  const SetShape& shape() const { return shape_; }
  std::size_t shard_count() const { return std::size_t{shape_.data_shards} + shape_.parity_shards; }
  const std::vector<Bytes>& images() const { return images_; }
  Bytes content() const {
    return {content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(content_bytes_)};
  }
  std::string path(std::size_t shard, const std::string& folder = "disk") const {
    const std::string digits = std::to_string(1000 + shard).substr(1);
    return folder + "/" + shape_.name + ".s" + digits + ".calpe";
  }
  void put(MemoryFiles& files, const std::string& folder = "disk") const {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      files.put(path(i, folder), images_[i]);
    }
  }

  std::size_t block_at(std::uint64_t stripe) const {
    return group_at(stripe / 512) + stripe % 512 * shape_.block_bytes;
  }
  std::size_t checksum_at(std::uint64_t stripe) const {
    const std::uint64_t group = stripe / 512;
    const std::uint64_t stripes = std::min<std::uint64_t>(512, shape_.stripes - 512 * group);
    return group_at(group) + stripes * shape_.block_bytes + stripe % 512 * 8;
  }
  std::uint64_t checksum(std::size_t shard, std::uint64_t stripe, const std::byte* block) const {
    Bytes name(40);
    name[0] = std::byte{shape_.uuid};
    put_number(name, 16, shape_.generation, 8);
    put_number(name, 24, stripe, 8);
    put_number(name, 32, shard, 8);
    return store::plain_checksum({block, shape_.block_bytes}) ^ store::plain_checksum(name);
  }
  static void put_number(Bytes& bytes, std::size_t at, std::uint64_t number, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)  // little-endian on every machine
      bytes[at + i] = static_cast<std::byte>(number >> 8 * i);
  }

 private:
  std::size_t group_at(std::uint64_t group) const {
    return 4096 + group * (512 * std::size_t{shape_.block_bytes} + 4096);
  }

  static unsigned multiply(unsigned a, unsigned b) {
    unsigned product = 0;
    for (; b != 0; b >>= 1U) {
      if ((b & 1U) != 0) product ^= a;
      a <<= 1U;
      if ((a & 0x100U) != 0) a ^= 0x11DU;
    }
    return product;
  }

  Bytes make_block(std::size_t shard, std::uint64_t stripe,
                   const std::vector<std::uint16_t>& rows) const {
    const std::size_t k = shape_.data_shards;
    const std::byte* const data = content_.data() + stripe * k * shape_.block_bytes;
    Bytes block(shape_.block_bytes);
    for (std::size_t j = 0; j < k; ++j) {
      const unsigned factor = shard < k ? (shard == j ? 1U : 0U) : rows[(shard - k) * k + j];
      if (factor == 0) continue;
      for (std::size_t b = 0; b < block.size(); ++b) {
        const auto byte = std::to_integer<unsigned>(data[j * block.size() + b]);
        block[b] ^= static_cast<std::byte>(factor == 1 ? byte : multiply(factor, byte));
      }
    }
    return block;
  }

  Bytes make_header(std::size_t shard) const {
    Bytes header(4096);
    std::memcpy(header.data(), "calpe-s1", 8);
    put_number(header, 8, 1, 4);
    put_number(header, 12, 4096, 4);
    header[16] = std::byte{shape_.uuid};
    put_number(header, 32, shape_.generation, 8);
    put_number(header, 40, shard, 2);
    put_number(header, 42, shape_.kind, 1);
    put_number(header, 44, shape_.block_bytes, 4);
    put_number(header, 48, shape_.stripes, 8);
    put_number(header, 56, content_bytes_, 8);
    put_number(header, 64, content_bytes_, 8);  // empty manifest
    put_number(header, 80, static_cast<std::uint64_t>(spec_.family), 1);
    put_number(header, 81, 1, 1);
    put_number(header, 82, spec_.data_shards, 2);
    put_number(header, 84, spec_.parity_shards, 2);
    put_number(header, 86, 8, 1);
    put_number(header, 88, spec_.polynomial, 4);
    put_number(header, 96, spec_.local_groups, 2);
    put_number(header, 104, spec_.matrix_hash, 8);
    put_number(header, 208, shape_.name.size(), 2);
    std::memcpy(header.data() + 210, shape_.name.data(), shape_.name.size());
    put_number(header, 4088, store::plain_checksum({header.data(), 4088}), 8);
    return header;
  }

  Bytes make_shard(std::size_t shard, const std::vector<std::uint16_t>& rows) const {
    Bytes file = make_header(shard);
    for (std::uint64_t first = 0; first < shape_.stripes; first += 512) {
      Bytes page(4096);
      for (std::uint64_t s = first; s < std::min(first + 512, shape_.stripes); ++s) {
        const Bytes block = make_block(shard, s, rows);
        put_number(page, (s - first) * 8, checksum(shard, s, block.data()), 8);
        file.insert(file.end(), block.begin(), block.end());
      }
      file.insert(file.end(), page.begin(), page.end());
    }
    const Bytes header = make_header(shard);
    file.insert(file.end(), header.begin(), header.end());
    return file;
  }

  SetShape shape_;
  CodeSpec spec_;
  Bytes content_;  // padded with zeros
  std::size_t content_bytes_ = 0;
  std::vector<Bytes> images_;
};

}  // namespace calpe::tests
