// SPDX-License-Identifier: Apache-2.0
// gpu::Driver over the CUDA driver, which compiles our PTX itself: nothing of the CUDA toolkit is
// needed. Devices: see list_cuda().
#pragma once
#include <memory>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/driver.hpp"

namespace calpe::backend::cuda {

// Device number `index`. Fails with backend_unavailable and the reason.
Result<std::unique_ptr<gpu::Driver>> open_cuda_driver(unsigned index);

// A row per device, "cuda:0", ...; or one row "cuda" with the reason why there is none.
std::vector<BackendStatus> list_cuda();

}  // namespace calpe::backend::cuda
