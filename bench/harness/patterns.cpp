// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/patterns.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace calpe::bench {

namespace {
constexpr std::size_t pattern_count_max = 1024;
constexpr std::size_t pattern_count_min = 32;
// Shards of all patterns together. More do not surprise a branch predictor more, but take seconds
// to draw for the widest codes.
constexpr std::size_t drawn_shards_max = std::size_t{1} << 20;
}  // namespace

std::shared_ptr<const Patterns> draw_patterns(Shape shape, std::size_t lost_count) {
  std::mt19937 random(7);
  const std::size_t pattern_count =
      std::clamp(drawn_shards_max / shape.data_shards, pattern_count_min, pattern_count_max);
  std::vector<ShardIndex> shards(shape.data_shards);
  std::iota(shards.begin(), shards.end(), ShardIndex{0});
  std::set<std::vector<ShardIndex>> drawn;
  for (std::size_t draw = 0; draw < 4 * pattern_count; ++draw) {
    if (drawn.size() == pattern_count) break;
    std::shuffle(shards.begin(), shards.end(), random);
    std::vector<ShardIndex> lost(shards.begin(),
                                 shards.begin() + static_cast<std::ptrdiff_t>(lost_count));
    std::sort(lost.begin(), lost.end());
    drawn.insert(std::move(lost));
  }
  auto patterns = std::make_shared<Patterns>(drawn.begin(), drawn.end());
  // Shuffle: neighbours in a sorted set share most shards, which would favour branch prediction.
  std::shuffle(patterns->begin(), patterns->end(), random);
  return patterns;
}

}  // namespace calpe::bench
