// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: static kernels for the best instruction set that CPU and OS support.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::cpu {

// variant: a path ("avx2"), or empty for the path named by CALPE_CPU or, if unset, the best one.
// Fails with backend_unavailable if the CPU lacks the path or CALPE_CPU is unknown, and with
// invalid_argument for an unknown variant.
Result<std::unique_ptr<Device>> open_cpu(std::string_view variant);

// Lists "cpu" with the path it would use, then every path of this build.
std::vector<BackendStatus> list_cpu();

}  // namespace calpe::backend::cpu
