// SPDX-License-Identifier: Apache-2.0
// Reports the state of an open array.
#pragma once
#include "array/core/open_array.hpp"

namespace calpe::array {

// Like Array::status(). Holds Log::Locked, so that all numbers are consistent.
ArrayStatus status_of(OpenArray& array);

}  // namespace calpe::array
