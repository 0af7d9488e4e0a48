// SPDX-License-Identifier: Apache-2.0
// A content whose first bytes can be examined before it is read, as the amount of data in a pipe
// determines the block size.
#pragma once
#include <vector>

#include "store/tree/content.hpp"

namespace calpe::store {

class PeekedSource final : public ContentSource {
 public:
  explicit PeekedSource(ContentSource& source) : source_(source) {}

  // Reads this many bytes ahead. If there are fewer, the size is known afterwards.
  Status peek(std::size_t bytes);

  std::optional<std::uint64_t> bytes_expected() const override;
  Result<std::size_t> read(std::span<std::byte> bytes) override;
  std::vector<std::byte> identity() const override { return source_.identity(); }
  bool is_as_identified() const override { return source_.is_as_identified(); }
  Status skip(std::uint64_t bytes) override;
  std::uint64_t manifest_offset() const override { return source_.manifest_offset(); }
  std::uint64_t manifest_bytes() const override { return source_.manifest_bytes(); }

 private:
  ContentSource& source_;
  std::vector<std::byte> ahead_;
  std::size_t given_ = 0;  // of the prefix
  bool is_all_ahead_ = false;
};

}  // namespace calpe::store
