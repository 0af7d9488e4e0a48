// SPDX-License-Identifier: Apache-2.0
// Failures of streams, which call the caller's functions.
#pragma once
#include <new>
#include <optional>

#include <calpe/result.hpp>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::engine {

// Unlike guarded(), lets all other exceptions pass: they are those of the caller's functions.
template <class Work>
auto without_bad_alloc(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

inline Error moved_from_stream() {
  return invalid("the stream is empty: it was moved from; make one with create()");
}

// The failure of a stream that cannot continue after it.
class StreamFailure {
 public:
  // Refuses after a failure. The caller's function may have thrown or, by mistake, call the stream.
  Status check() const {
    if (error_) return *error_;
    if (!is_running_) return Done{};
    return invalid("the stream cannot be used: its function threw, or calls the stream");
  }
  // Runs `work`, which calls the caller's function, and keeps its error.
  template <class Work>
  Status keep(const Work& work) {
    CALPE_CHECK(check());
    is_running_ = true;
    Status done = without_bad_alloc(work);
    // In this order: if the copy of the error throws, the stream stays refused.
    if (!done) error_ = done.error();
    is_running_ = false;
    return done;
  }

 private:
  std::optional<Error> error_;
  bool is_running_ = false;  // also after an exception
};

}  // namespace calpe::engine
