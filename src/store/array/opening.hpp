// SPDX-License-Identifier: Apache-2.0
// From places to an open array.
#pragma once
#include <memory>

#include "store/array/array_core.hpp"
#include "store/array/members.hpp"

namespace calpe::store::array {

Result<std::unique_ptr<Core>> open_core(Members& members, const OpenOptions& options);

}  // namespace calpe::store::array
