// SPDX-License-Identifier: Apache-2.0
// Calpe as a contestant, through its public interface only.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

// The codecs of one code, as a contestant needs them.
struct OwnCodecs {
  Codec codec;     // as a user makes it
  Codec uncached;  // keeps no plans: for what a pattern costs that was never seen
};

// `options` go with every run. Fails with invalid_argument when the codec's parity shards differ in
// length from shard_bytes; otherwise cannot fail.
Result<std::unique_ptr<Coder>> make_own_coder(const OwnCodecs& codecs, std::size_t shard_bytes,
                                              const RunOptions& options = {});

}  // namespace calpe::bench
