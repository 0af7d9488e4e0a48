// SPDX-License-Identifier: Apache-2.0
// Plans an operation for --lose.
#pragma once
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tools {

// Plans to rebuild `lost` from all other shards, or to encode if `lost` is empty. Fails with
// invalid_argument for a shard that does not exist or is named twice, and as plan_decode does.
Result<Plan> plan_without(const Codec& codec, const std::vector<ShardIndex>& lost);

}  // namespace calpe::tools
