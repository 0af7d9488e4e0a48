// SPDX-License-Identifier: Apache-2.0
// The wall at functions that others call: a failed allocation becomes an error value.
#pragma once
#include <new>
#include <system_error>
#include <utility>

#include <calpe/result.hpp>

namespace calpe {

// Short enough to need no allocation itself.
inline Error out_of_memory() {
  return {ErrorCode::out_of_memory, "out of memory"};
}

template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::system_error&) {  // of std::thread: no more threads may be started
    return Error{ErrorCode::out_of_memory, "no more threads"};
  }
}

}  // namespace calpe
