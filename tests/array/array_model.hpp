// SPDX-License-Identifier: Apache-2.0
// A simple model of an array: for each block the contents that it may have after a power cut,
// oldest first. A write adds one, a flush keeps only the newest, a power cut keeps what is read
// afterwards.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace calpe::tests {

class ArrayModel {
 public:
  static constexpr std::size_t block_bytes = 4096;

  explicit ArrayModel(std::uint64_t bytes)
      : blocks_(bytes / block_bytes, {std::make_shared<const Content>(block_bytes)}) {}

  std::uint64_t bytes() const { return blocks_.size() * block_bytes; }

  // The array has grown; the new blocks are zeros.
  void grow(std::uint64_t bytes) {
    blocks_.resize(bytes / block_bytes, {std::make_shared<const Content>(block_bytes)});
  }

  // A write was submitted; its bytes may be there after a power cut.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t from = offset % block_bytes;
      const std::size_t count = std::min(block_bytes - from, bytes.size());
      Versions& versions = blocks_[offset / block_bytes];
      Content next = *versions.back();
      std::memcpy(next.data() + from, bytes.data(), count);
      versions.push_back(std::make_shared<const Content>(std::move(next)));
      offset += count;
      bytes = bytes.subspan(count);
    }
  }
  void zero(std::uint64_t offset, std::uint64_t bytes) {
    write(offset, std::vector<std::byte>(bytes));
  }

  // The write was acknowledged as durable; older contents may not come back.
  void settle(std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0) return;
    for (std::uint64_t i = offset / block_bytes; i <= (offset + bytes - 1) / block_bytes; ++i) {
      blocks_[i].erase(blocks_[i].begin(), blocks_[i].end() - 1);
    }
  }
  void settle_all() { settle(0, bytes()); }

  // Without faults, reads return the newest contents. Returns "" or the difference.
  std::string compare(std::uint64_t offset, std::span<const std::byte> read) const {
    while (!read.empty()) {
      const std::size_t from = offset % block_bytes;
      const std::size_t count = std::min(block_bytes - from, read.size());
      const Versions& versions = blocks_[offset / block_bytes];
      if (std::memcmp(versions.back()->data() + from, read.data(), count) != 0) {
        return describe(offset / block_bytes, versions, read.first(count), from);
      }
      offset += count;
      read = read.subspan(count);
    }
    return {};
  }

  // Checks the whole array after a power cut: each block must be old or new. Returns "" or the
  // first block that is neither. The array may have fewer blocks if it was growing.
  std::string compare_after_cut(std::span<const std::byte> all) const {
    std::string differs;
    for (std::size_t i = 0; i < all.size() / block_bytes && differs.empty(); ++i) {
      differs = compare_block_after_cut(i, all.subspan(i * block_bytes, block_bytes));
    }
    return differs;
  }
  std::string compare_block_after_cut(std::uint64_t block, std::span<const std::byte> read) const {
    const Versions& versions = blocks_[block];
    return found_in(versions, read) != nullptr ? "" : describe(block, versions, read, 0);
  }
  // From here on only the contents that were read are valid.
  void settle_after_cut(std::span<const std::byte> all) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i] = {found_in(blocks_[i], all.subspan(i * block_bytes, block_bytes))};
    }
  }

 private:
  using Content = std::vector<std::byte>;
  using Shared = std::shared_ptr<const Content>;
  using Versions = std::vector<Shared>;

  // Newest first, so that the usual case needs one comparison.
  static Shared found_in(const Versions& versions, std::span<const std::byte> read) {
    const auto same = [&](const Shared& v) {
      return std::memcmp(v->data(), read.data(), block_bytes) == 0;
    };
    const auto found = std::find_if(versions.rbegin(), versions.rend(), same);
    return found == versions.rend() ? nullptr : *found;
  }
  static std::string describe(std::uint64_t block, const Versions& versions,
                              std::span<const std::byte> read, std::size_t from) {
    std::string message =
        text("block ", block, ": none of ", versions.size(), " contents; 16 bytes read: ");
    for (std::size_t i = 0; i < std::min<std::size_t>(16, read.size()); ++i) {
      message += text(" ", std::to_integer<unsigned>(read[i]));
    }
    for (const Shared& version : versions) {
      const std::byte* at = version->data() + from;
      const auto differs = std::mismatch(read.begin(), read.end(), at);
      message += text("; content ", &version - versions.data(), " differs at ",
                      from + static_cast<std::size_t>(differs.second - at));
    }
    return message;
  }

  std::vector<Versions> blocks_;
};

}  // namespace calpe::tests
