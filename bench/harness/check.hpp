// SPDX-License-Identifier: Apache-2.0
// No figure without right bytes: every coder proves itself on the very stripe it will be timed on.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

struct NamedCoder {
  std::string name;  // "calpe", "isal"
  const Coder* coder = nullptr;
};

// For each coder: encodes, loses the shards of every pattern in turn, decodes, compares. Coders
// that write the profile's bytes must agree on the parity with the first coder. Data is intact
// afterwards. Fails with corrupt and the first byte that differs.
Status check_coders(const StripeBuffers& buffers, std::span<const NamedCoder> coders,
                    std::span<const std::vector<ShardIndex>> patterns);

}  // namespace calpe::bench
