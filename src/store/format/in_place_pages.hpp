// SPDX-License-Identifier: Apache-2.0
// Checksum pages of a parity file for kept originals: its own page, one page per data shard, and
// one page with the checksums of these pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/code_spec.hpp>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

constexpr std::uint64_t original_page_count(const CodeSpec& spec) noexcept {
  return std::uint64_t{spec.data_shards} + 2;
}

// Checksum of page `page` of a group. group.stripe is the first stripe of the group.
std::uint64_t original_page_checksum(const BlockName& group, std::size_t page,
                                     std::span<const std::byte> bytes) noexcept;

// All pages of shard `shard`, in order. `checksums` holds one page for each of the k + m shards.
std::vector<LittleU64> original_pages(const BlockName& group, std::size_t data_shards,
                                      std::size_t shard, std::span<const LittleU64> checksums);

// Fills the last page of a group from all others.
void add_page_checksums(const BlockName& group, std::span<LittleU64> pages);

// Tells for each of pages 0 .. k of a group, as read from a file, whether it is good. `pages` holds
// all k + 2 of them.
std::vector<bool> good_original_pages(const BlockName& group, std::span<const LittleU64> pages);

}  // namespace calpe::store
