// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace calpe {

// Where written shards go. A hint: it may change speed, never bytes.
enum class Stores : std::uint8_t {
  automatic,  // past the caches when the call's shards are larger than a core's own cache
  cached,     // into the caches: somebody reads the outputs soon
  streaming,  // past the caches: the shards are cold, and the outputs go to a disk or a network
};

}  // namespace calpe
