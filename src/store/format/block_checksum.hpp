// SPDX-License-Identifier: Apache-2.0
// Checksums of blocks: XXH3 with a mask that says which block of which set it is.
#pragma once
#include <cstdint>
#include <span>

#include "store/format/shard_header.hpp"

namespace calpe::store {

// Which block.
struct BlockName {
  Uuid uuid = {};
  std::uint64_t generation = 0;
  std::uint64_t stripe = 0;
  std::uint64_t shard = 0;
};

std::uint64_t block_mask(const BlockName& name) noexcept;
std::uint64_t block_checksum(const BlockName& name, std::span<const std::byte> block) noexcept;
// What it becomes in another generation.
std::uint64_t renamed_checksum(std::uint64_t checksum, const BlockName& before,
                               const BlockName& after) noexcept;

std::uint64_t plain_checksum(std::span<const std::byte> bytes) noexcept;  // headers, manifests

}  // namespace calpe::store
