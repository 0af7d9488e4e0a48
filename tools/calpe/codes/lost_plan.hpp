// SPDX-License-Identifier: Apache-2.0
// --lose: the plan of an operation.
#pragma once
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tools {

// Rebuilds `lost` from all the others; encodes when nothing is. Fails with invalid_argument for a
// shard that does not exist or is named twice, and as plan_decode does.
Result<Plan> plan_without(const Codec& codec, const std::vector<ShardIndex>& lost);

}  // namespace calpe::tools
