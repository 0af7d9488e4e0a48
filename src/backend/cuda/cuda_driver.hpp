// SPDX-License-Identifier: Apache-2.0
// gpu::Driver for the CUDA driver, which compiles PTX itself; the CUDA toolkit is not needed. See
// list_cuda() for devices.
#pragma once
#include <memory>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/driver.hpp"

namespace calpe::backend::cuda {

// Opens device `index`. Fails with backend_unavailable and the reason.
Result<std::unique_ptr<gpu::Driver>> open_cuda_driver(unsigned index);

// One row per device ("cuda:0", ...), or one row "cuda" with the reason if there is none.
// Fails with backend_unavailable if no device has the address, such as 0000:3b:00.0.
Result<unsigned> find_cuda_device(std::string_view pci_address);
std::vector<BackendStatus> list_cuda();

}  // namespace calpe::backend::cuda
