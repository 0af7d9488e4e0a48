// SPDX-License-Identifier: Apache-2.0
// A content in memory: the data of one stream, and its manifest.
#pragma once
#include <algorithm>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/content.hpp"

namespace calpe::tests {

class MemoryContent final : public store::ContentSource {
 public:
  explicit MemoryContent(std::vector<std::byte> data)
      : bytes_(std::move(data)), data_bytes_(bytes_.size()) {
    store::Entry entry{.type = store::EntryType::stream, .path = {}, .target = {}};
    entry.file_bytes = data_bytes_;
    if (data_bytes_ != 0) entry.extents.push_back({0, 0, data_bytes_});
    const auto manifest = store::to_bytes(store::Manifest{{entry}});
    bytes_.insert(bytes_.end(), manifest.begin(), manifest.end());
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  std::optional<std::uint64_t> bytes_expected() const override { return bytes_.size(); }
  Result<std::size_t> read(std::span<std::byte> bytes) override {
    const std::size_t count = std::min(bytes.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, bytes.begin());
    at_ += count;
    return count;
  }
  std::uint64_t manifest_offset() const override { return data_bytes_; }
  std::uint64_t manifest_bytes() const override { return bytes_.size() - data_bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t data_bytes_;
  std::size_t at_ = 0;
};

}  // namespace calpe::tests
