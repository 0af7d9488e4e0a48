// SPDX-License-Identifier: Apache-2.0
// Turns failed allocations into error values at the boundary of the library.
#pragma once
#include <new>
#include <system_error>
#include <utility>

#include <calpe/result.hpp>

namespace calpe {

// Short enough to need no allocation.
inline Error out_of_memory() {
  return {ErrorCode::out_of_memory, "out of memory"};
}

template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::system_error&) {  // std::thread: no more threads can be started
    return Error{ErrorCode::out_of_memory, "no more threads"};
  }
}

}  // namespace calpe
