// SPDX-License-Identifier: Apache-2.0
// Progress of a long call.
#pragma once
#include <cstdint>
#include <functional>

namespace calpe {

// Called between pieces of work, on the caller's thread, with the bytes done and the total, or 0 if
// the total is unknown.
using OnProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

}  // namespace calpe
