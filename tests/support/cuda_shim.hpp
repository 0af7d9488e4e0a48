// SPDX-License-Identifier: Apache-2.0
// The built-in names of CUDA that emitted kernels use, so that a C++ compiler takes them: one
// thread after the other. Shows what the source means, nothing about a GPU.
#pragma once
#include <cstddef>

struct ShimIndex {
  unsigned x;
};
static ShimIndex blockIdx, blockDim, threadIdx;
#define __global__

// A launch of `blocks` times `threads`: exported, so that a test can call it.
template <class... Parameters, class... Arguments>
void shim_launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                 Arguments... arguments) {
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
      kernel(static_cast<Parameters>(arguments)...);
  }
}
