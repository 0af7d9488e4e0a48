// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::opencl {

// variant: "1", the second device of all platforms; "1/2.0", the first of two equal parts of it;
// empty: "0". CALPE_OPENCL_LIBRARY names another library than libOpenCL.so.1; CALPE_DEVICE_COPIES
// lets a device that shares the host's memory work as if it did not.
Result<std::unique_ptr<Device>> open_opencl(std::string_view variant);
std::vector<BackendStatus> list_opencl();

}  // namespace calpe::backend::opencl
