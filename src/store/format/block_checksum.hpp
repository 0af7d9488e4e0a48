// SPDX-License-Identifier: Apache-2.0
// Block checksums: XXH3, masked with the identity of the set, shard and block.
#pragma once
#include <cstdint>
#include <span>

#include "store/format/shard_header.hpp"

namespace calpe::store {

// Identifies a block.
struct BlockName {
  Uuid uuid = {};
  std::uint64_t generation = 0;
  std::uint64_t stripe = 0;
  std::uint64_t shard = 0;
};

std::uint64_t block_mask(const BlockName& name) noexcept;
std::uint64_t block_checksum(const BlockName& name, std::span<const std::byte> block) noexcept;
// Converts a checksum to the one the same block has in another generation.
std::uint64_t renamed_checksum(std::uint64_t checksum, const BlockName& before,
                               const BlockName& after) noexcept;

std::uint64_t plain_checksum(std::span<const std::byte> bytes) noexcept;  // headers, manifests

}  // namespace calpe::store
