// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace calpe::logging {

namespace {

// Destroying it does nothing: a device may be left while the program ends.
struct Sink {
  std::mutex mutex;  // held while a handler runs, so that it may be replaced at any time
  Handler handler = nullptr;
  void* user = nullptr;
};
constinit Sink sink;

// Without allocating: what is to be told may be that there is no memory.
bool goes_to_stderr() noexcept {
  static const char* const asked = std::getenv("CALPE_LOG");
  return asked != nullptr && std::string_view(asked) == "stderr";
}

}  // namespace

void set_handler(Handler handler, void* user) noexcept {
  const std::lock_guard lock(sink.mutex);
  sink.handler = handler;
  sink.user = user;
}

void write(const std::string& line) noexcept {
  const std::lock_guard lock(sink.mutex);
  if (sink.handler != nullptr) {
    sink.handler(line.c_str(), sink.user);
  } else if (goes_to_stderr()) {
    static_cast<void>(std::fprintf(stderr, "calpe: %s\n", line.c_str()));
  }
}

}  // namespace calpe::logging
