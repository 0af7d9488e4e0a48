// SPDX-License-Identifier: Apache-2.0
// Checks the bytes of every coder on the stripe that it will be timed on.
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
  std::vector<std::vector<ShardIndex>> losses;  // decoded with prepared tables
  std::shared_ptr<const Patterns> fresh;        // first few decoded without; may be null
  std::vector<ChangeForm> changes;
  bool has_batch = false;
};

// For each coder: encodes, loses the shards of every pattern in turn, decodes and compares; updates
// and compares with an encode of the new data. Coders that write the profile's bytes must produce
// the parity of the first coder. Data is unchanged afterwards. Uses the first stripe; a batch uses
// all. Fails with corrupt and the first byte that differs.
Status check_coders(const StripeBuffers& stripes, std::span<const NamedCoder> coders,
                    const CheckRequest& request);

}  // namespace calpe::bench
