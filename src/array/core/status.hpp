// SPDX-License-Identifier: Apache-2.0
// Reports the state of an open array.
#pragma once
#include "array/core/open_array.hpp"

namespace calpe::array {

// As Array::status(). Holds Log::Locked, so all figures are of one moment.
ArrayStatus status_of(OpenArray& array);

}  // namespace calpe::array
