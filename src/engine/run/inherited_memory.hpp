// SPDX-License-Identifier: Apache-2.0
// The memory of a device that a parent process opened, as a child of fork() sees it.
#pragma once
#include "backend/backend.hpp"

namespace calpe::engine {

// Every use fails; giving back does nothing, as the memory is the parent's.
backend::DeviceMemory& inherited_memory() noexcept;

}  // namespace calpe::engine
