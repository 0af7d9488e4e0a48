// SPDX-License-Identifier: Apache-2.0
// The CUDA built-ins used by emitted kernels, for a C++ compiler; threads run one after the other.
// Checks the meaning of the source, not the behaviour of a GPU.
#pragma once
#include <cstddef>

struct ShimIndex {
  unsigned x;
};
static ShimIndex blockIdx, blockDim, threadIdx;
#define __global__
#define __launch_bounds__(threads)

// A launch of `blocks` times `threads`; exported so that a test can call it.
template <class... Parameters, class... Arguments>
void shim_launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                 Arguments... arguments) {
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
      kernel(static_cast<Parameters>(arguments)...);
  }
}
