// SPDX-License-Identifier: Apache-2.0
// Offsets inside a shard file, as docs/format.md defines them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// What a parity file has after its groups: the manifest, and since version 2 a gap and a second
// copy, so that one bad sector does not cost the file list of a set with one parity file.
struct ListPart {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes = {};
};
bool has_two_lists(const ShardHeader& header) noexcept;
std::vector<std::uint64_t> list_offsets(const ShardHeader& header);  // of each copy
// In ascending order. `manifest` must have header.manifest_bytes and outlive the result.
std::vector<ListPart> list_parts(const ShardHeader& header, std::span<const std::byte> manifest);

// Chooses a block size: 64 KiB, or less if the content is smaller than one such stripe.
// content_bytes = 0: the size is not known yet.
std::uint32_t choose_block_bytes(std::uint64_t content_bytes, unsigned data_shards) noexcept;

}  // namespace calpe::store
