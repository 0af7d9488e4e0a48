// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>

#include "backend/backend.hpp"

namespace calpe::backend::cuda {

// variant: device number; empty: 0. CALPE_CUDA_DRIVER replaces libcuda.so.1.
Result<std::unique_ptr<Device>> open_cuda(std::string_view variant);

}  // namespace calpe::backend::cuda
