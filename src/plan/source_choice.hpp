// SPDX-License-Identifier: Apache-2.0
// Chooses which shards to read, and the coefficients, for any linear code: the cheapest basis that
// spans the wanted shards, by elimination. MDS codes with a Cauchy form do not need this.
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

// Tries the sources in order of cost. Tries again with the members of each sparse parity row (a
// local group) that touches a wanted shard moved to the front, and keeps the cheapest result.
// Returns nullopt if the sources do not span `wanted`. No wanted shard may be a source.
std::optional<Recipe> choose_sources(const code::Code& code, std::span<const Source> sources,
                                     std::span<const ShardIndex> wanted);

}  // namespace calpe::plan
