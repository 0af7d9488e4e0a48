// SPDX-License-Identifier: Apache-2.0
// The CPU as a device that makes its own machine code: every xor program becomes one loop whose
// values stay in registers. gf programs, and blocks too short for it, run as on the cpu backend.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::jit {

// variant: "avx2" or "avx512", or empty for the best that the CPU and CALPE_CPU allow. Fails with
// backend_unavailable on other processors and where the system forbids executable pages, with
// invalid_argument when `variant` names none.
Result<std::unique_ptr<Device>> open_jit(std::string_view variant);

std::vector<BackendStatus> list_jit();

}  // namespace calpe::backend::jit
