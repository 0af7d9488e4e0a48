// SPDX-License-Identifier: Apache-2.0
// Opens an array: finds members, rejects stale ones, replays the log.
//
// Locks: only one thread runs. Recovery holds Log::Locked for the calls that need it.
#pragma once
#include <memory>

#include "array/core/open_array.hpp"
#include "array/format/members.hpp"

namespace calpe::array {

// Like Array::open(). The caller calls Log::end_opening() before other threads use the array.
Result<std::unique_ptr<OpenArray>> open_array(Members& members, const OpenOptions& options);

}  // namespace calpe::array
