// SPDX-License-Identifier: Apache-2.0
// Finds the best word and group size of a device: PoCL prefers whole vector registers, Intel's
// runtime single words. Measured once per device and driver, then cached.
#pragma once
#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"

namespace calpe::backend::gpu {

// From the cache, otherwise measured (GpuOptions::tunes), otherwise the driver's first choice.
Result<Tuning> find_tuning(Core& core);

}  // namespace calpe::backend::gpu
