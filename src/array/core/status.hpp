// SPDX-License-Identifier: Apache-2.0
// Reports the state of an open array.
#pragma once
#include <optional>

#include "array/core/open_array.hpp"

namespace calpe::array {

// Like Array::status(). Holds Log::Locked, so that all numbers are consistent.
ArrayStatus status_of(OpenArray& array);
// Returns nullopt if another thread holds the commit lock.
std::optional<ArrayStatus> try_status_of(OpenArray& array);
// Does not take the commit lock: what it guards is taken from `last`.
ArrayStatus status_without_lock(OpenArray& array, const ArrayStatus& last);

}  // namespace calpe::array
