// SPDX-License-Identifier: Apache-2.0
// Which word and group size a device likes: PoCL wants whole vector registers, Intel's runtime
// single words, a GPU something between. Measured once per device and driver, then remembered.
#pragma once
#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"

namespace calpe::backend::gpu {

// Remembered, else measured (GpuOptions::tunes), else the driver's first choice.
Result<Tuning> find_tuning(Core& core);

}  // namespace calpe::backend::gpu
