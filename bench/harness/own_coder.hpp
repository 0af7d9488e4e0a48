// SPDX-License-Identifier: Apache-2.0
// Calpe as a contestant, through its public interface only.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

// Fails with invalid_argument when the codec's parity shards differ in length from shard_bytes;
// otherwise cannot fail.
Result<std::unique_ptr<Coder>> make_own_coder(const Codec& codec, std::size_t shard_bytes);

}  // namespace calpe::bench
