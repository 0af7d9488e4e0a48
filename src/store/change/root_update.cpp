// SPDX-License-Identifier: Apache-2.0
#include "store/change/root_update.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t buffer_bytes = 1U << 18U;

}  // namespace

NewRoot::NewRoot(const ShardHeader& before, const ShardHeader& after, File& shard)
    : before_(before),
      after_(after),
      shard_(shard),
      geometry_(geometry_of(before)),
      old_(before, before.shard_index),
      new_(after, after.shard_index) {}

Result<std::span<const std::byte>> NewRoot::old_block(std::uint64_t stripe) {
  const std::size_t block_bytes = before_.block_bytes;
  if (stripe >= buffer_stripe_ + buffer_.size() / block_bytes) {
    const std::uint64_t in_group =
        geometry_.stripes_in_group(stripe / group_stripes) - stripe % group_stripes;
    const std::uint64_t fitting = std::max<std::uint64_t>(1, buffer_bytes / block_bytes);
    buffer_.resize(std::min(in_group, fitting) * block_bytes);
    CALPE_TRY(const std::size_t got, shard_.read_at(buffer_, geometry_.block_offset(stripe)));
    if (got != buffer_.size()) {
      return make_error(ErrorCode::io, shard_.path(), " became shorter while it was being read");
    }
    buffer_stripe_ = stripe;
  }
  return std::span<const std::byte>(buffer_).subspan((stripe - buffer_stripe_) * block_bytes,
                                                     block_bytes);
}

// Adds the unchanged stripes up to here, unless the set now ends before them.
Status NewRoot::keep_before(std::uint64_t stripe) {
  for (; next_stripe_ < std::min(stripe, before_.stripe_count); ++next_stripe_) {
    CALPE_TRY(const auto block, old_block(next_stripe_));
    CALPE_CHECK(old_.add(block));
    if (next_stripe_ < after_.stripe_count) CALPE_CHECK(new_.add(block));
  }
  return Done{};
}

Status NewRoot::add(std::uint64_t stripe, std::span<const std::byte> block) {
  CALPE_CHECK(keep_before(stripe));
  if (stripe < before_.stripe_count) {
    CALPE_TRY(const auto old, old_block(stripe));
    CALPE_CHECK(old_.add(old));
  }
  next_stripe_ = stripe + 1;
  return new_.add(block);
}

Result<Digest> NewRoot::finish() {
  CALPE_CHECK(keep_before(before_.stripe_count));
  CALPE_TRY(const Digest root, old_.finish());
  if (!is_equal_digest(root, before_.shard_root)) {
    return make_error(ErrorCode::corrupt, shard_.path(),
                      " does not match its root; run calpe repair first");
  }
  return new_.finish();
}

}  // namespace calpe::store
