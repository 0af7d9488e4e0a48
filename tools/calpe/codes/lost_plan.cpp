// SPDX-License-Identifier: Apache-2.0
#include "calpe/codes/lost_plan.hpp"

#include <numeric>

#include "base/text.hpp"

namespace calpe::tools {

Result<Plan> plan_without(const Codec& codec, const std::vector<ShardIndex>& lost) {
  if (lost.empty()) return codec.plan_encode();
  std::vector<ShardIndex> available(std::size_t{codec.spec().data_shards} +
                                    codec.spec().parity_shards);
  std::iota(available.begin(), available.end(), ShardIndex{0});
  const std::size_t last = available.size() - 1;
  for (const ShardIndex shard : lost) {
    if (shard > last) return invalid("--lose ", shard, ": no such shard; expected 0..", last);
    if (std::erase(available, shard) == 0) return invalid("--lose names shard ", shard, " twice");
  }
  return codec.plan_decode(available, lost);
}

}  // namespace calpe::tools
