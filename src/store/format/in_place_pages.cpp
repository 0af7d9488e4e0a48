// SPDX-License-Identifier: Apache-2.0
#include "store/format/in_place_pages.hpp"

#include <algorithm>

#include "base/little_endian.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

// Distinguishes pages from blocks, whose shard indices are smaller.
constexpr std::uint64_t first_page_shard = 65536;

std::span<const LittleU64> page_of(std::span<const LittleU64> pages, std::size_t page) {
  return pages.subspan(page * group_stripes, group_stripes);
}

}  // namespace

std::uint64_t original_page_checksum(const BlockName& group, std::size_t page,
                                     std::span<const std::byte> bytes) noexcept {
  BlockName name = group;
  name.shard = first_page_shard + page;
  return block_checksum(name, bytes);
}

std::vector<LittleU64> original_pages(const BlockName& group, std::size_t data_shards,
                                      std::size_t shard, std::span<const LittleU64> checksums) {
  std::vector<LittleU64> pages((data_shards + 2) * group_stripes);
  const auto put = [&](std::size_t page, std::size_t from) {
    std::ranges::copy(page_of(checksums, from),
                      pages.begin() + static_cast<std::ptrdiff_t>(page * group_stripes));
  };
  put(0, shard);
  for (std::size_t i = 0; i < data_shards; ++i) {
    put(1 + i, i);
  }
  add_page_checksums(group, pages);
  return pages;
}

void add_page_checksums(const BlockName& group, std::span<LittleU64> pages) {
  const std::size_t checked = pages.size() / group_stripes - 1;
  for (std::size_t page = 0; page < checked; ++page) {
    pages[checked * group_stripes + page] =
        original_page_checksum(group, page, std::as_bytes(page_of(pages, page)));
  }
}

std::vector<bool> good_original_pages(const BlockName& group, std::span<const LittleU64> pages) {
  const std::size_t checked = pages.size() / group_stripes - 1;
  const auto sums = page_of(pages, checked);
  std::vector<bool> good(checked);
  for (std::size_t page = 0; page < checked; ++page) {
    good[page] =
        sums[page] == original_page_checksum(group, page, std::as_bytes(page_of(pages, page)));
  }
  return good;
}

}  // namespace calpe::store
