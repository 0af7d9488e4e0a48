// SPDX-License-Identifier: Apache-2.0
// Pages of checksums of a parity file of originals: its own, those of all data shards, and one that
// says which of these are good.
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

// The checksum of page `page` of a group; group.stripe is its first stripe.
std::uint64_t original_page_checksum(const BlockName& group, std::size_t page,
                                     std::span<const std::byte> bytes) noexcept;

// All pages of shard `shard`, one after the other. checksums: a page of each of the k + m shards.
std::vector<LittleU64> original_pages(const BlockName& group, std::size_t data_shards,
                                      std::size_t shard, std::span<const LittleU64> checksums);

// Of a group as a file has it: true for each of pages 0 .. k that is good. pages: k + 2 of them.
std::vector<bool> good_original_pages(const BlockName& group, std::span<const LittleU64> pages);

}  // namespace calpe::store
