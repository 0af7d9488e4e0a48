// SPDX-License-Identifier: Apache-2.0
// Speed of the memory system for a working set: copy, read, write.
#pragma once
#include <cstddef>

#include "bench/harness/coder.hpp"

namespace calpe::bench {

// Each call works on the first `bytes` of the next stripe; all but `read` overwrite it. Stripes
// must outlive the calls and have at least `bytes` bytes each.
struct LimitCalls {
  std::size_t bytes = 0;  // read and written per call; rounded down to whole kernel steps
  Call copy;              // memcpy of the lower half to the upper half: copies bytes / 2
  Call read;
  Call write;
};

LimitCalls make_limit_calls(const StripeBuffers& stripes, std::size_t bytes);

}  // namespace calpe::bench
