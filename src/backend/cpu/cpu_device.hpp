// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: static kernels, the best path that this CPU and operating system support.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::cpu {

// variant: a path ("avx2"), or empty for the path named by the environment variable CALPE_CPU or,
// when that is unset, the best one. Fails with backend_unavailable when the CPU lacks the path and
// when CALPE_CPU names none, with invalid_argument when `variant` names none.
Result<std::unique_ptr<Device>> open_cpu(std::string_view variant);

// "cpu" with the path it would take, then every path of this build.
std::vector<BackendStatus> list_cpu();

}  // namespace calpe::backend::cpu
