// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::opencl {

// variant: "1" is the second device of all platforms; "1/2.0" is the first of two equal parts of
// it; empty is "0". CALPE_OPENCL_LIBRARY replaces libOpenCL.so.1. CALPE_DEVICE_COPIES makes a
// device with shared memory work through copies.
Result<std::unique_ptr<Device>> open_opencl(std::string_view variant);
std::vector<BackendStatus> list_opencl();

}  // namespace calpe::backend::opencl
