// SPDX-License-Identifier: Apache-2.0
// Converts addresses to and from the numbers that drivers use.
#pragma once
#include <cstdint>

namespace calpe {

template <class T = void>
T* pointer_at(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): a driver's number
}

}  // namespace calpe
