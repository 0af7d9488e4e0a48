// SPDX-License-Identifier: Apache-2.0
// Reads back a shard that was written.
#pragma once
#include <string>

#include "store/read/open_set.hpp"

namespace calpe::store {

// Checks both headers, the size, and every block and checksum. `lost`: stripes without a good block
// in this shard, which must not look good either. Fails with io and names the path.
Status check_written_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                           const std::string& path, const StripeRanges& lost = {});

}  // namespace calpe::store
