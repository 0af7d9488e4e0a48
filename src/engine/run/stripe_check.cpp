// SPDX-License-Identifier: Apache-2.0
#include "engine/run/stripe_check.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/run/overlap.hpp"

namespace calpe::engine {

namespace {

std::size_t bytes_of(ConstShard shard) {
  return shard.size();
}

// Length of a shard in pieces. Stops at a sum that is too large, which LengthCheck refuses.
template <class Piece>
std::size_t bytes_of(std::span<const Piece> pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) {
    if (piece.size() > shard_bytes_max) return piece.size();
    bytes += piece.size();
    if (bytes > shard_bytes_max) break;
  }
  return bytes;
}

template <class Shards>
Status see_all(LengthCheck& check, std::span<const ShardIndex> indices, const Shards& shards,
               const ListName& list) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    CALPE_CHECK(check.see(indices[i], bytes_of(shards[i]), {.list = list, .index = i}));
  }
  return Done{};
}

template <class Inputs, class Outputs>
Result<ShardLengths> check_all(const StripeShape& shape, const Inputs& inputs,
                               const Outputs& outputs, const StripeNames& names) {
  CALPE_CHECK(check_count(names.reads(), inputs.size(), shape.reads.size()));
  CALPE_CHECK(check_count(names.writes(), outputs.size(), shape.writes.size()));
  LengthCheck check(shape.spec);
  CALPE_CHECK(see_all(check, shape.reads, inputs, names.reads()));
  CALPE_CHECK(see_all(check, shape.writes, outputs, names.writes()));
  // Before the next check, in which sums of absurd lengths would wrap around.
  CALPE_TRY(const ShardLengths lengths, check.finish());
  CALPE_CHECK(check_overlap(inputs, outputs, names));
  return lengths;
}

}  // namespace

Status check_count(const ListName& list, std::size_t got, std::size_t expected) {
  if (got == expected) return Done{};
  return invalid(list, " has ", got, " shards; expected ", expected);
}

Result<ShardLengths> check_stripe(const StripeShape& shape, std::span<const ConstShard> inputs,
                                  std::span<const Shard> outputs, const StripeNames& names) {
  return check_all(shape, inputs, outputs, names);
}

Result<ShardLengths> check_stripe(const StripeShape& shape,
                                  std::span<const ConstShardPieces> inputs,
                                  std::span<const ShardPieces> outputs, const StripeNames& names) {
  return check_all(shape, inputs, outputs, names);
}

Status take_closely(const StripeShape& shape, const Stripe& stripe, const std::byte** inputs,
                    std::byte** outputs, ShardLengths& lengths, const StripeNames& names) {
  CALPE_TRY(lengths, check_stripe(shape, stripe.inputs, stripe.outputs, names));
  std::ranges::transform(stripe.inputs, inputs, [](ConstShard shard) { return shard.data(); });
  std::ranges::transform(stripe.outputs, outputs, [](Shard shard) { return shard.data(); });
  return Done{};
}

}  // namespace calpe::engine
