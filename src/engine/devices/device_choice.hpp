// SPDX-License-Identifier: Apache-2.0
// From the name in CodecOptions::backend to the device that a codec works with: one that cannot be
// trusted gets the CPU behind it, and several share every job.
#pragma once
#include <memory>
#include <string_view>

#include "backend/backend.hpp"

namespace calpe::engine {

using OpenDevice = Result<std::unique_ptr<backend::Device>> (*)(std::string_view name,
                                                                ir::Dialect dialect);

// name: as for backend::open_device(), or several such joined by "+". Tests open others.
Result<std::unique_ptr<backend::Device>> choose_device(std::string_view name, ir::Dialect dialect,
                                                       OpenDevice open = backend::open_device);

}  // namespace calpe::engine
