// SPDX-License-Identifier: Apache-2.0
// Which available shards to read, and with what coefficients, for any linear code: the cheapest
// basis that spans the wanted shards, found by elimination. MDS codes with a Cauchy form skip this.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "code/code.hpp"
#include "plan/recipe.hpp"

namespace calpe::plan {

struct Source {
  ShardIndex shard = 0;
  std::uint32_t cost = 1;
};

// Tries the sources in order of cost, and again with the members of each sparse parity row (a local
// group) that touches a wanted shard moved to the front; keeps the cheapest outcome. Empty when the
// sources do not span `wanted`. No wanted shard may be a source.
std::optional<Recipe> choose_sources(const code::Code& code, std::span<const Source> sources,
                                     std::span<const ShardIndex> wanted);

}  // namespace calpe::plan
