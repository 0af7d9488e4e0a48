// SPDX-License-Identifier: Apache-2.0
#include "store/change/in_place_changes.hpp"

#include <algorithm>

#include "base/divide_up.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t read_bytes = std::uint64_t{1} << 20U;

}  // namespace

bool OldChecksums::is_same(ShardIndex shard, std::uint64_t stripe,
                           std::span<const std::byte> block) {
  const ShardHeader& header = originals_.header();
  GroupPage& known = pages_[shard];
  if (known.group != stripe / group_stripes) {
    known = {stripe / group_stripes, originals_.page_of(shard, stripe / group_stripes)};
  }
  const BlockName name = {
      .uuid = header.uuid, .generation = header.generation, .stripe = stripe, .shard = shard};
  return known.page && (*known.page)[stripe % group_stripes] == block_checksum(name, block);
}

bool ChangedBlocks::contains(ShardIndex shard, std::uint64_t stripe) const {
  return std::binary_search(numbers_.begin(), numbers_.end(), shard * stripe_count_ + stripe);
}

bool ChangedBlocks::overlaps(std::uint64_t offset, std::uint64_t bytes,
                             std::uint64_t block_bytes) const {
  const auto first = std::lower_bound(numbers_.begin(), numbers_.end(), offset / block_bytes);
  return first != numbers_.end() && *first * block_bytes < offset + bytes;
}

StripeRanges ChangedBlocks::stripes() const {
  std::vector<std::uint64_t> all;
  all.reserve(numbers_.size());
  for (const std::uint64_t number : numbers_)
    all.push_back(number % stripe_count_);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  StripeRanges stripes;
  for (const std::uint64_t stripe : all)
    stripes.add(stripe);
  return stripes;
}

Result<ChangedBlocks> find_changed_blocks(OriginalSource& now, OldChecksums& old,
                                          const ShardHeader& header,
                                          std::span<const ContentRange> ranges,
                                          const OnProgress& on_progress) {
  const std::uint64_t block_bytes = header.block_bytes;
  ChangedBlocks changed(header);
  std::vector<std::byte> bytes;
  const std::uint64_t all = total_bytes(ranges);
  std::uint64_t done = 0;
  std::uint64_t next = 0;  // two ranges may touch the same block
  for (const ContentRange& range : ranges) {
    const std::uint64_t end = divide_up(range.end, block_bytes);
    for (std::uint64_t block = std::max(next, range.begin / block_bytes); block < end;) {
      const std::uint64_t count =
          std::min(end - block, std::max<std::uint64_t>(1, read_bytes / block_bytes));
      bytes.resize(count * block_bytes);
      CALPE_CHECK(now.read_data(bytes, block * block_bytes));
      for (std::uint64_t j = 0; j < count; ++j, ++block) {
        const bool is_same = old.is_same(static_cast<ShardIndex>(block / header.stripe_count),
                                         block % header.stripe_count,
                                         std::span(bytes).subspan(j * block_bytes, block_bytes));
        if (!is_same) changed.add(block);
      }
      if (on_progress) on_progress(std::min(all, done + block * block_bytes - range.begin), all);
    }
    next = std::max(next, end);
    done += range.bytes();
  }
  return changed;
}

}  // namespace calpe::store
