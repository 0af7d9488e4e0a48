// SPDX-License-Identifier: Apache-2.0
#include "engine/run/stripe_check.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/run/overlap.hpp"

namespace calpe::engine {

Status check_count(const char* operand, std::size_t got, std::size_t expected) {
  if (got == expected) return Done{};
  return invalid(operand, " has ", got, " shards; expected ", expected);
}

Status take_closely(const StripeShape& shape, std::span<const ConstShard> from,
                    std::span<const Shard> to, const std::byte** inputs, std::byte** outputs,
                    ShardLengths& lengths) {
  CALPE_CHECK(check_count("inputs", from.size(), shape.reads.size()));
  CALPE_CHECK(check_count("outputs", to.size(), shape.writes.size()));
  LengthCheck check(shape.spec);
  for (std::size_t i = 0; i < from.size(); ++i) {
    CALPE_CHECK(check.see(shape.reads[i], from[i].size(), "inputs", i));
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    CALPE_CHECK(check.see(shape.writes[i], to[i].size(), "outputs", i));
  }
  CALPE_TRY(lengths, check.finish());  // first: sums of absurd lengths would wrap around
  CALPE_CHECK(check_overlap(from, to));
  std::ranges::transform(from, inputs, [](ConstShard shard) { return shard.data(); });
  std::ranges::transform(to, outputs, [](Shard shard) { return shard.data(); });
  return Done{};
}

}  // namespace calpe::engine
