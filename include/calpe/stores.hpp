// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace calpe {

// Cache hint for written shards. Affects speed, never the bytes.
enum class Stores : std::uint8_t {
  automatic,  // streaming if the shards of the call exceed one core's cache
  cached,     // keep outputs in the caches: they are read soon
  streaming,  // bypass the caches: outputs go to a disk or a network
};

}  // namespace calpe
