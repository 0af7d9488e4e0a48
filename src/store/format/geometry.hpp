// SPDX-License-Identifier: Apache-2.0
// Where things are in a shard file: offsets as docs/format.md has them.
#pragma once
#include <cstdint>

#include "store/format/shard_header.hpp"

namespace calpe::store {

inline constexpr std::uint64_t group_stripes = 512;
inline constexpr std::uint64_t page_bytes = 4096;

struct Geometry {
  std::uint64_t block_bytes = 0;
  std::uint64_t stripe_count = 0;
  std::uint64_t page_count = 1;  // T

  std::uint64_t stripes_in_group(std::uint64_t group) const noexcept;
  std::uint64_t group_offset(std::uint64_t group) const noexcept;
  std::uint64_t block_offset(std::uint64_t stripe) const noexcept;
  std::uint64_t checksum_offset(std::uint64_t stripe, std::uint64_t page = 0) const noexcept;
  std::uint64_t body_end() const noexcept;
};

// No overflow for a header that parse_header accepted.
Geometry geometry_of(const ShardHeader& header) noexcept;
// Of a whole, undamaged shard file.
std::uint64_t shard_file_bytes(const ShardHeader& header) noexcept;

// A block size that suits the content: 64 KiB, less for a content of less than one such stripe.
// 0 content bytes: not known yet.
std::uint32_t choose_block_bytes(std::uint64_t content_bytes, unsigned data_shards) noexcept;

}  // namespace calpe::store
