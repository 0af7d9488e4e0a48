// SPDX-License-Identifier: Apache-2.0
// Opens an array: finds members, rejects stale ones, replays the log.
//
// Locks: one thread only. Recovery holds Log::Locked for the sake of the calls that need it.
#pragma once
#include <memory>

#include "array/core/open_array.hpp"
#include "array/format/members.hpp"

namespace calpe::array {

// As Array::open(). Log::end_opening() is up to the caller, before other threads use the array.
Result<std::unique_ptr<OpenArray>> open_array(Members& members, const OpenOptions& options);

}  // namespace calpe::array
