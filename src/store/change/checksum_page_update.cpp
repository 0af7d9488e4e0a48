// SPDX-License-Identifier: Apache-2.0
#include "store/change/checksum_page_update.hpp"

#include <algorithm>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/in_place_pages.hpp"

namespace calpe::store {

NewPages::NewPages(const ShardHeader& before, const ShardHeader& after, File& shard,
                   RedoWriter& journal)
    : before_(before),
      after_(after),
      shard_(shard),
      journal_(journal),
      geometry_before_(geometry_of(before)),
      geometry_after_(geometry_of(after)),
      checked_pages_(is_originals() ? std::size_t{before.spec.data_shards} + 1 : 1),
      next_stripe_(checked_pages_),
      pages_(geometry_after_.page_count * group_stripes),
      is_given_(checked_pages_ * group_stripes) {}

BlockName NewPages::name(const ShardHeader& header, ShardIndex shard, std::uint64_t stripe) const {
  return {.uuid = header.uuid, .generation = header.generation, .stripe = stripe, .shard = shard};
}

std::span<LittleU64> NewPages::page(std::size_t number) {
  return std::span(pages_).subspan(number * group_stripes, group_stripes);
}

ShardIndex NewPages::shard_of(std::size_t page) const noexcept {
  return page == 0 ? after_.shard_index : static_cast<ShardIndex>(page - 1);
}

Status NewPages::add(ShardIndex shard, std::uint64_t stripe, std::span<const std::byte> block) {
  const std::size_t number = shard == after_.shard_index ? 0 : std::size_t{1} + shard;
  if (number >= checked_pages_) {
    return invalid("shard is ", shard, "; expected one with a checksum page in ", shard_.path());
  }
  const std::uint64_t next = std::max(next_stripe_[number], group_ * group_stripes);
  if (stripe < next || stripe >= after_.stripe_count) {
    return invalid("stripe is ", stripe, "; expected ", next, " .. ", after_.stripe_count,
                   " in ascending order");
  }
  while (group_ < stripe / group_stripes) {
    CALPE_CHECK(end_group());
  }
  const std::size_t within = stripe % group_stripes;
  page(number)[within] = block_checksum(name(after_, shard, stripe), block);
  is_given_[number * group_stripes + within] = 1;
  next_stripe_[number] = stripe + 1;
  return Done{};
}

Status NewPages::read_old(std::vector<LittleU64>& old) {
  const std::uint64_t first = group_ * group_stripes;
  if (first >= before_.stripe_count) return Done{};
  const auto bytes = std::as_writable_bytes(std::span(old));
  CALPE_TRY(const std::size_t got, shard_.read_at(bytes, geometry_before_.checksum_offset(first)));
  if (got != bytes.size()) {
    return make_error(ErrorCode::io, shard_.path(), " ends within the checksums of stripe ", first,
                      "; expected ", shard_file_bytes(before_), " bytes");
  }
  if (!is_originals()) return Done{};
  // A new checksum of a damaged page would make it a good one.
  const std::vector<bool> good = good_original_pages(name(before_, 0, first), old);
  if (std::all_of(good.begin(), good.end(), [](bool one) { return one; })) return Done{};
  return make_error(ErrorCode::corrupt, shard_.path(), ": the checksums of stripe ", first,
                    " and others are damaged; nothing was changed: run calpe repair first");
}

Status NewPages::finish_page(std::size_t number, std::span<const LittleU64> old) {
  const std::uint64_t first = group_ * group_stripes;
  const std::uint64_t count = geometry_after_.stripes_in_group(group_);
  const ShardIndex shard = shard_of(number);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at = number * group_stripes + i;
    if (is_given_[at] != 0) continue;
    const std::uint64_t stripe = first + i;
    if (stripe >= before_.stripe_count) {
      return invalid("stripe ", stripe, " of shard ", shard, " is new and was not given");
    }
    // Does not read the block: if it did not match the old checksum, it does not match the new one.
    pages_[at] =
        renamed_checksum(old[at], name(before_, shard, stripe), name(after_, shard, stripe));
  }
  return Done{};
}

Status NewPages::end_group() {
  const std::uint64_t first = group_ * group_stripes;
  std::vector<LittleU64> old(pages_.size());
  CALPE_CHECK(read_old(old));
  for (std::size_t number = 0; number < checked_pages_; ++number) {
    CALPE_CHECK(finish_page(number, old));
  }
  if (is_originals()) add_page_checksums(name(after_, 0, first), pages_);
  CALPE_CHECK(
      journal_.add(geometry_after_.checksum_offset(first), std::as_bytes(std::span(pages_))));
  std::fill(pages_.begin(), pages_.end(), LittleU64(0));
  std::fill(is_given_.begin(), is_given_.end(), std::uint8_t{0});
  ++group_;
  return Done{};
}

Status NewPages::finish() {
  while (group_ < divide_up(after_.stripe_count, group_stripes)) {
    CALPE_CHECK(end_group());
  }
  return Done{};
}

}  // namespace calpe::store
