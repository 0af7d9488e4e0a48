// SPDX-License-Identifier: Apache-2.0
// How far a long call is.
#pragma once
#include <cstdint>
#include <functional>

namespace calpe {

// Called between pieces of work, on the caller's thread: bytes of content done, and of all, or 0
// when that is not known.
using OnProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

}  // namespace calpe
