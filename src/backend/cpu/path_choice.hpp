// SPDX-License-Identifier: Apache-2.0
// Which of the static kernels are used: the paths of this build, what they need of a CPU, and the
// environment variable CALPE_CPU. Defines list_cpu() as well.
#pragma once
#include <string_view>

#include <calpe/result.hpp>

#include "backend/cpu/cpu_kernels.hpp"

namespace calpe::backend::cpu {

// Of the path named by CALPE_CPU or, when that is unset, of the best one. Fails with
// backend_unavailable when the CPU lacks the path and when CALPE_CPU names none.
Result<const CpuKernels*> choose_kernels();

// Of a path by its name ("avx2"). Fails with backend_unavailable when the CPU lacks it, with
// invalid_argument when there is none of that name.
Result<const CpuKernels*> find_kernels(std::string_view variant);

}  // namespace calpe::backend::cpu
