// SPDX-License-Identifier: Apache-2.0
// From places to an open array.
#pragma once
#include <memory>

#include "array/core/array_core.hpp"
#include "array/format/members.hpp"

namespace calpe::array {

Result<std::unique_ptr<Core>> open_core(Members& members, const OpenOptions& options);

}  // namespace calpe::array
