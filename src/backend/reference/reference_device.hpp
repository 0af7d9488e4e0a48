// SPDX-License-Identifier: Apache-2.0
// Interprets programs byte by byte: slow, but simple enough to trust.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace calpe::backend::reference {

// Has no variants: fails with invalid_argument unless `variant` is empty.
Result<std::unique_ptr<Device>> open_reference(std::string_view variant);
std::vector<BackendStatus> list_reference();

}  // namespace calpe::backend::reference
