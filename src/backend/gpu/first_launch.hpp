// SPDX-License-Identifier: Apache-2.0
// Some drivers compile a kernel when it is first launched (rusticl, PoCL, lavapipe), which can take
// longer than any job may. Drivers therefore launch every kernel once without work.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include <calpe/result.hpp>

#include "backend/gpu/driver.hpp"

namespace calpe::backend::gpu {

// Waits for the launches in the queue. If they do not finish, the module's kernels are given up,
// and not the device: the module is taken and never destroyed, as the device may still use it.
Status wait_for_first_launch(std::unique_ptr<Queue> queue, std::unique_ptr<Module>& module,
                             const std::string& device, std::chrono::milliseconds limit);

}  // namespace calpe::backend::gpu
