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

struct CheckRequest {
  std::vector<std::vector<ShardIndex>> losses;  // each decoded with tables prepared
  std::shared_ptr<const Patterns> fresh;        // the first few are decoded without; may be null
  std::vector<ChangeForm> changes;
  bool has_batch = false;
};

// For each coder: encodes, loses the shards of every pattern in turn, decodes, compares; updates
// and compares with an encode of the new data. Coders that write the profile's bytes must agree on
// the parity with the first coder. Data is intact afterwards. All on the first stripe, a batch on
// every one. Fails with corrupt and the first byte that differs.
Status check_coders(const StripeBuffers& stripes, std::span<const NamedCoder> coders,
                    const CheckRequest& request);

}  // namespace calpe::bench
