// SPDX-License-Identifier: Apache-2.0
// Offsets inside a shard file, as docs/format.md defines them.
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

// Cannot overflow for a header that parse_header accepted.
Geometry geometry_of(const ShardHeader& header) noexcept;
// Size of a complete shard file.
std::uint64_t shard_file_bytes(const ShardHeader& header) noexcept;

// Chooses a block size: 64 KiB, or less if the content is smaller than one such stripe.
// content_bytes = 0: the size is not known yet.
std::uint32_t choose_block_bytes(std::uint64_t content_bytes, unsigned data_shards) noexcept;

}  // namespace calpe::store
