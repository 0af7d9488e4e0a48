// SPDX-License-Identifier: Apache-2.0
// Device memory opened by the parent process, as seen in a child of fork().
#pragma once
#include "backend/backend.hpp"

namespace calpe::engine {

// Every use fails. Freeing does nothing, as the parent owns the memory.
backend::DeviceMemory& inherited_memory() noexcept;

}  // namespace calpe::engine
