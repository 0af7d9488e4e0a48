// SPDX-License-Identifier: Apache-2.0
// Calpe as a contestant; uses the public API only.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

// The codecs that a contestant needs for one code.
struct OwnCodecs {
  Codec codec;     // default options
  Codec uncached;  // without plan cache, to measure unseen patterns
};

// `options` are passed to every run. Fails with invalid_argument only if parity shards would not
// have shard_bytes bytes.
Result<std::unique_ptr<Coder>> make_own_coder(const OwnCodecs& codecs, std::size_t shard_bytes,
                                              const RunOptions& options = {});

}  // namespace calpe::bench
