// SPDX-License-Identifier: Apache-2.0
// Resolves the name in CodecOptions::backend to a device. A device behind a driver gets the CPU as
// a fallback, and several devices share every job.
#pragma once
#include <memory>
#include <string_view>

#include "backend/backend.hpp"

namespace calpe::engine {

using OpenDevice = Result<std::unique_ptr<backend::Device>> (*)(std::string_view name,
                                                                ir::Dialect dialect);

// name: as for backend::open_device(), or several names joined by "+". Tests pass their own `open`.
Result<std::unique_ptr<backend::Device>> choose_device(std::string_view name, ir::Dialect dialect,
                                                       OpenDevice open = backend::open_device);

}  // namespace calpe::engine
