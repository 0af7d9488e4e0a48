// SPDX-License-Identifier: Apache-2.0
// Selects the static kernels: the paths of this build, the CPU features they need, and the
// environment variable CALPE_CPU. Also defines list_cpu().
#pragma once
#include <string_view>

#include <calpe/result.hpp>

#include "backend/cpu/cpu_kernels.hpp"

namespace calpe::backend::cpu {

// Kernels of the path named by CALPE_CPU or, if unset, of the best one. Fails with
// backend_unavailable if the CPU lacks the path or CALPE_CPU is unknown.
Result<const CpuKernels*> choose_kernels();

// Kernels of the path `name` ("avx2"). Fails with backend_unavailable if the CPU lacks it, and with
// invalid_argument for an unknown name.
Result<const CpuKernels*> find_kernels(std::string_view variant);

}  // namespace calpe::backend::cpu
