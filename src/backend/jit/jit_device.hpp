// SPDX-License-Identifier: Apache-2.0
// The CPU with generated machine code: every xor program becomes one loop whose values stay in
// registers. gf programs, and blocks that are too short, run on the cpu backend.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::jit {

// variant: "avx2", "avx512", or empty for the best that the CPU and CALPE_CPU allow. Fails with
// backend_unavailable on other processors or if the system forbids executable pages, and with
// invalid_argument for an unknown variant.
Result<std::unique_ptr<Device>> open_jit(std::string_view variant);

std::vector<BackendStatus> list_jit();

}  // namespace calpe::backend::jit
