// SPDX-License-Identifier: Apache-2.0
#include "store/read/block_search.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <unistd.h>

#include "base/divide_up.hpp"

namespace calpe::store {

namespace {

// How far and how much find_near() searches. At 10 GB/s and more for a hash, one search takes below
// a second, and all of them half a minute.
constexpr std::uint64_t near_offsets_max = std::uint64_t{1} << 16U;
constexpr std::uint64_t near_hashed_max = std::uint64_t{1} << 33U;
constexpr std::uint64_t all_hashed_max = std::uint64_t{1} << 38U;

// Reads everything, or returns false.
bool read_exactly(const SearchedFile& file, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(file.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

BlockSearch::BlockSearch(const OriginalShards& originals)
    : originals_(originals), block_bytes_(originals.header().block_bytes) {}

BlockSearch::Blocks BlockSearch::blocks_of(const Extent& extent) const noexcept {
  const std::uint64_t first = divide_up(extent.content_offset, block_bytes_);
  const std::uint64_t end = (extent.content_offset + extent.bytes) / block_bytes_;
  return {first, std::max(first, end)};
}

bool BlockSearch::has_whole_block(const Entry& entry) const noexcept {
  return std::any_of(entry.extents.begin(), entry.extents.end(), [&](const Extent& extent) {
    const Blocks blocks = blocks_of(extent);
    return blocks.first < blocks.end;
  });
}

// Returns the checksum of the bytes of a block, without its mask.
std::optional<std::uint64_t> BlockSearch::expected(std::uint64_t block) {
  const ShardHeader& header = originals_.header();
  const std::uint64_t shard = block / header.stripe_count;
  const std::uint64_t stripe = block % header.stripe_count;
  const std::uint64_t group = stripe / group_stripes;
  if (!has_page_ || page_shard_ != shard || page_group_ != group) {
    page_ = originals_.page_of(static_cast<ShardIndex>(shard), group);
    page_shard_ = shard;
    page_group_ = group;
    has_page_ = true;
  }
  if (!page_) return std::nullopt;
  const BlockName name = {
      .uuid = header.uuid, .generation = header.generation, .stripe = stripe, .shard = shard};
  return (*page_)[stripe % group_stripes] ^ block_mask(name);
}

bool BlockSearch::is_at(const Extent& extent, std::uint64_t block, std::int64_t shift,
                        const SearchedFile& file) {
  const std::uint64_t was = extent.file_offset + (block * block_bytes_ - extent.content_offset);
  // Wraps around to beyond any file if the shift leads to before its start.
  const std::uint64_t at = was + static_cast<std::uint64_t>(shift);
  if (at > file.bytes || file.bytes - at < block_bytes_) return false;
  const auto checksum = expected(block);
  buffer_.resize(std::max<std::size_t>(buffer_.size(), block_bytes_));
  const auto bytes = std::span(buffer_).first(block_bytes_);
  return checksum && read_exactly(file, bytes, at) && plain_checksum(bytes) == *checksum;
}

bool BlockSearch::has_some(const Entry& entry, const SearchedFile& file) {
  const auto growth = static_cast<std::int64_t>(file.bytes - entry.file_bytes);
  for (const Extent& extent : entry.extents) {
    const Blocks blocks = blocks_of(extent);
    if (blocks.first == blocks.end) continue;
    for (const std::uint64_t block :
         {blocks.first, blocks.first + (blocks.end - blocks.first) / 2, blocks.end - 1}) {
      if (is_at(extent, block, 0, file) || is_at(extent, block, growth, file)) return true;
    }
  }
  return false;
}

// Tries all offsets up to a distance from where the block would be with this shift. Returns the
// shift at which it is.
std::optional<std::int64_t> BlockSearch::find_near(const Extent& extent, std::uint64_t block,
                                                   std::int64_t shift, const SearchedFile& file) {
  const auto checksum = expected(block);
  const std::uint64_t reach = std::min(near_offsets_max, near_hashed_max / block_bytes_) / 2;
  const std::uint64_t was = extent.file_offset + (block * block_bytes_ - extent.content_offset);
  const auto middle = static_cast<std::int64_t>(was) + shift;
  const std::int64_t last = static_cast<std::int64_t>(file.bytes - block_bytes_);
  const auto distance = static_cast<std::int64_t>(reach);
  const std::int64_t begin = std::max<std::int64_t>(0, middle - distance);
  const std::int64_t end = std::min(last, middle + distance);
  if (!checksum || file.bytes < block_bytes_ || begin > end) return std::nullopt;
  const auto offsets = static_cast<std::uint64_t>(end - begin) + 1;
  if (hashed_bytes_ + offsets * block_bytes_ > all_hashed_max) return std::nullopt;
  hashed_bytes_ += offsets * block_bytes_;
  buffer_.resize(std::max<std::size_t>(buffer_.size(), offsets - 1 + block_bytes_));
  const auto bytes = std::span(buffer_).first(offsets - 1 + block_bytes_);
  if (!read_exactly(file, bytes, static_cast<std::uint64_t>(begin))) return std::nullopt;
  for (std::uint64_t i = 0; i < offsets; ++i) {
    if (plain_checksum(bytes.subspan(i, block_bytes_)) == *checksum)
      return begin + static_cast<std::int64_t>(i) - static_cast<std::int64_t>(was);
  }
  return std::nullopt;
}

// Tries the shift of the block before, that of bytes inserted anywhere before, and none.
std::optional<std::int64_t> BlockSearch::likely_shift(const Extent& extent, std::uint64_t block,
                                                      const Likely& likely,
                                                      const SearchedFile& file) {
  const auto [last, growth] = likely;
  if (is_at(extent, block, last, file)) return last;
  if (growth != last && is_at(extent, block, growth, file)) return growth;
  if (last != 0 && growth != 0 && is_at(extent, block, 0, file)) return 0;
  return std::nullopt;
}

std::vector<BlockSearch::Run> BlockSearch::runs_of(const Extent& extent, std::int64_t growth,
                                                   const SearchedFile& file) {
  std::vector<Run> runs;
  const Blocks blocks = blocks_of(extent);
  const auto note = [&](std::uint64_t block, std::int64_t shift) {
    if (!runs.empty() && runs.back().end == block && runs.back().shift == shift) {
      ++runs.back().end;
    } else {
      runs.push_back({block, block + 1, shift});
    }
  };
  std::int64_t shift = 0;
  std::uint64_t misses = 0;
  for (std::uint64_t block = blocks.first; block < blocks.end; ++block) {
    if (const auto found = likely_shift(extent, block, {shift, growth}, file)) {
      shift = *found;
      note(block, shift);
      misses = 0;
      continue;
    }
    // The first miss is the block that was changed itself. Bytes that were inserted show in the
    // next ones; search less often the longer nothing is found.
    ++misses;
    if (misses < 2 || !std::has_single_bit(misses)) continue;
    const auto moved = find_near(extent, block, shift, file);
    if (!moved) continue;
    shift = *moved;
    const std::uint64_t after = runs.empty() ? blocks.first : runs.back().end;
    std::uint64_t begin = block;
    while (begin > after && is_at(extent, begin - 1, shift, file))
      --begin;
    for (std::uint64_t one = begin; one <= block; ++one)
      note(one, shift);
    misses = 0;
  }
  return runs;
}

void BlockSearch::add_pieces(const Extent& extent, const std::vector<Run>& runs,
                             std::vector<MovedPiece>& pieces) const {
  const Blocks blocks = blocks_of(extent);
  for (const Run& run : runs) {
    std::uint64_t begin = run.first * block_bytes_;
    std::uint64_t end = run.end * block_bytes_;
    if (run.end == blocks.end) end = extent.content_offset + extent.bytes;
    if (run.first == blocks.first) {
      const std::uint64_t before = begin - extent.content_offset;
      const std::uint64_t at = extent.file_offset + before + static_cast<std::uint64_t>(run.shift);
      begin -= std::min(before, at);
    }
    pieces.push_back({.content_offset = begin,
                      .bytes = end - begin,
                      .file_offset = extent.file_offset + (begin - extent.content_offset) +
                                     static_cast<std::uint64_t>(run.shift)});
  }
}

std::vector<MovedPiece> BlockSearch::find_all(const Entry& entry, const SearchedFile& file) {
  std::vector<MovedPiece> pieces;
  const auto growth = static_cast<std::int64_t>(file.bytes - entry.file_bytes);
  for (const Extent& extent : entry.extents)
    add_pieces(extent, runs_of(extent, growth, file), pieces);
  return pieces;
}

}  // namespace calpe::store
