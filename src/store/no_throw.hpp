// SPDX-License-Identifier: Apache-2.0
// The wall at the store's functions: a failed allocation becomes an error value.
#pragma once
#include <new>
#include <system_error>
#include <utility>

#include <calpe/result.hpp>

namespace calpe::store {

template <class Work>
auto without_throwing(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "out of memory"};  // short: needs no allocation
  } catch (const std::system_error&) {                        // of std::thread
    return Error{ErrorCode::out_of_memory, "no more threads"};
  }
}

}  // namespace calpe::store
