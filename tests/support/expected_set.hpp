// SPDX-License-Identifier: Apache-2.0
// Shard files according to docs/format.md, made independently of src/store. Only the header bytes
// and XXH3 are shared, which have their own golden tests. Also a content in memory.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>

#include "base/files.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/shard_header.hpp"
#include "store/tree/content.hpp"
#include "store/write/protect.hpp"

namespace calpe::tests {

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

// A content in memory. Its last bytes count as the manifest.
class MemorySource final : public store::ContentSource {
 public:
  explicit MemorySource(Bytes bytes, bool is_size_known = true)
      : bytes_(std::move(bytes)), is_size_known_(is_size_known) {}
  std::optional<std::uint64_t> bytes_expected() const override {
    if (!is_size_known_) return std::nullopt;
    return bytes_.size();
  }
  Result<std::size_t> read(std::span<std::byte> target) override {
    if (reads_left == 0) return Error{ErrorCode::io, "cannot read the source: too old"};
    --reads_left;
    const std::size_t count = std::min(target.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, target.begin());
    at_ += count;
    return count;
  }
  std::uint64_t manifest_offset() const override { return bytes_.size() - manifest_bytes(); }
  std::uint64_t manifest_bytes() const override { return std::min<std::size_t>(bytes_.size(), 20); }

  std::size_t reads_left = ~std::size_t{0};

 private:
  Bytes bytes_;
  bool is_size_known_;
  std::size_t at_ = 0;
};

// --- second implementation of docs/format.md -------------------------------------------------

inline unsigned multiply(unsigned a, unsigned b) {  // GF(2^8), 0x11D
  unsigned product = 0;
  for (; b != 0; b >>= 1U) {
    if ((b & 1U) != 0) product ^= a;
    a <<= 1U;
    if ((a & 0x100U) != 0) a ^= 0x11DU;
  }
  return product;
}

inline void append(Bytes& out, const void* bytes, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  out.insert(out.end(), first, first + count);
}
inline void append_number(Bytes& out, std::uint64_t number) {
  std::array<std::byte, 8> bytes = {};
  for (unsigned i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(number >> 8 * i);
  append(out, bytes.data(), bytes.size());
}

// Block `shard` of each stripe.
inline std::vector<Bytes> expected_blocks(const store::ShardHeader& header, const Bytes& content,
                                          std::size_t shard) {
  const std::size_t k = header.spec.data_shards;
  const std::size_t block_bytes = header.block_bytes;
  const auto rows = parity_rows(header.spec);
  if (!rows) throw std::runtime_error(rows.error().message);
  std::vector<Bytes> blocks(header.stripe_count, Bytes(block_bytes));
  for (std::size_t i = 0; i < k; ++i) {
    const unsigned factor = shard < k ? (i == shard ? 1 : 0) : (*rows)[(shard - k) * k + i];
    if (factor == 0) continue;
    std::array<std::byte, 256> product = {};
    for (unsigned value = 0; value < 256; ++value) {
      product[value] = static_cast<std::byte>(multiply(factor, value));
    }
    for (std::size_t stripe = 0; stripe < blocks.size(); ++stripe) {
      const std::size_t from = std::min((stripe * k + i) * block_bytes, content.size());
      const std::span source =
          std::span(content).subspan(from, std::min(block_bytes, content.size() - from));
      std::byte* target = blocks[stripe].data();
      for (const std::byte value : source)
        *target++ ^= product[std::to_integer<std::size_t>(value)];
    }
  }
  return blocks;
}

inline Bytes expected_file(const store::ShardHeader& of_set, const Bytes& content,
                           std::size_t shard) {
  store::ShardHeader header = of_set;
  header.shard_index = static_cast<ShardIndex>(shard);
  const store::HeaderBytes header_as_bytes = store::to_bytes(header);
  Bytes out;
  append(out, header_as_bytes.data(), store::header_bytes);
  const std::vector<Bytes> blocks = expected_blocks(header, content, shard);
  for (std::uint64_t first = 0; first < blocks.size(); first += 512) {
    Bytes page;
    for (std::uint64_t s = first; s < std::min<std::uint64_t>(blocks.size(), first + 512); ++s) {
      append(out, blocks[s].data(), blocks[s].size());
      Bytes name;
      append(name, header.uuid.data(), 16);
      append_number(name, header.generation);
      append_number(name, s);
      append_number(name, shard);
      append_number(page, store::plain_checksum(blocks[s]) ^ store::plain_checksum(name));
    }
    page.resize(4096);
    append(out, page.data(), page.size());
  }
  append(out, header_as_bytes.data(), store::header_bytes);
  return out;
}

// nullopt if there is no such file.
inline Bytes read_whole(const std::string& path) {
  const auto text = read_file(path);
  Bytes bytes;
  if (text) append(bytes, text->data(), text->size());
  return bytes;
}

// Sorted by path.
inline std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// All files below a directory, by path.
inline std::map<std::string, Bytes> snapshot(const std::string& folder) {
  std::map<std::string, Bytes> out;
  for (const std::string& path : files_below(folder))
    out[path] = read_whole(path);
  return out;
}

// Creates the targets in advance; otherwise protect() creates them and waits for the disk.
inline void make_targets(const store::ProtectOptions& options) {
  for (const std::string& target : options.targets) {
    std::filesystem::create_directories(target);
  }
}

}  // namespace calpe::tests
