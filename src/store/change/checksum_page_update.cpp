// SPDX-License-Identifier: Apache-2.0
#include "store/change/checksum_page_update.hpp"

#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

NewPages::NewPages(const ShardHeader& before, const ShardHeader& after, File& shard,
                   RedoWriter& journal)
    : before_(before),
      after_(after),
      shard_(shard),
      journal_(journal),
      geometry_before_(geometry_of(before)),
      geometry_after_(geometry_of(after)) {}

BlockName NewPages::name(const ShardHeader& header, std::uint64_t stripe) const {
  return {.uuid = header.uuid,
          .generation = header.generation,
          .stripe = stripe,
          .shard = header.shard_index};
}

Status NewPages::add(std::uint64_t stripe, std::span<const std::byte> block) {
  if (stripe < next_stripe_ || stripe >= after_.stripe_count) {
    return invalid("stripe is ", stripe, "; expected ", next_stripe_, " .. ", after_.stripe_count,
                   " in ascending order");
  }
  while (group_ < stripe / group_stripes) {
    CALPE_CHECK(end_group());
  }
  page_[stripe % group_stripes] = block_checksum(name(after_, stripe), block);
  is_given_.set(stripe % group_stripes);
  next_stripe_ = stripe + 1;
  return Done{};
}

Status NewPages::end_group() {
  const std::uint64_t first = group_ * group_stripes;
  const std::uint64_t count = geometry_after_.stripes_in_group(group_);
  std::array<LittleU64, group_stripes> old = {};
  if (first < before_.stripe_count) {
    const auto bytes = std::as_writable_bytes(std::span(old));
    CALPE_TRY(const std::size_t got,
              shard_.read_at(bytes, geometry_before_.checksum_offset(first)));
    if (got != bytes.size()) {
      return make_error(ErrorCode::io, shard_.path(), " ends within the checksums of stripe ",
                        first, "; expected ", shard_file_bytes(before_), " bytes");
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_given_[i]) continue;
    const std::uint64_t stripe = first + i;
    if (stripe >= before_.stripe_count) {
      return invalid("stripe ", stripe, " of shard ", after_.shard_index,
                     " is new and was not given");
    }
    // Does not read the block: if it did not match the old checksum, it does not match the new one.
    page_[i] = renamed_checksum(old[i], name(before_, stripe), name(after_, stripe));
  }
  CALPE_CHECK(
      journal_.add(geometry_after_.checksum_offset(first), std::as_bytes(std::span(page_))));
  page_ = {};
  is_given_.reset();
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
