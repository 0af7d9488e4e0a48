// SPDX-License-Identifier: Apache-2.0
// What the memory system can do with a working set: copy, read, write.
#pragma once
#include <cstddef>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

// Each works on the first `bytes` of a stripe's memory, which it overwrites (read does not), the
// stripes in turn. They must outlive the calls and have at least `bytes` each.
struct LimitCalls {
  std::size_t bytes = 0;  // rounded down to whole steps of the kernels; read and written per call
  Call copy;              // memcpy of the lower half to the upper half: bytes / 2 are copied
  Call read;
  Call write;
};

LimitCalls make_limit_calls(const StripeBuffers& stripes, std::size_t bytes);

}  // namespace calpe::bench
