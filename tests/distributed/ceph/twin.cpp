// SPDX-License-Identifier: Apache-2.0
// Linked into a copy of the plugin with --wrap=calpe_run, for tests only. CALPE_TWIN selects what
// it does: `wrong-rebuild` or `wrong-delta` flips one bit of what calpe_run writes without or with
// CALPE_RUN_ACCUMULATE, and the tests must detect it. Only apply_delta uses that flag. Each such
// call appends one byte to the file CALPE_TWIN_CALLS, so its size is the number of calls in all
// daemons, including killed ones.
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include <calpe/calpe.h>

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

void count_call() {
  static const int file = [] {
    const std::string_view path = variable("CALPE_TWIN_CALLS");
    return path.empty() ? -1 : open(path.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }();
  if (file >= 0 && write(file, "+", 1) != 1) std::abort();
}

}  // namespace

extern "C" {
calpe_status __real_calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                              const void* const* inputs, void* const* outputs, size_t shard_bytes,
                              uint32_t flags, calpe_error* error);

calpe_status __wrap_calpe_run(const calpe_codec* codec, const calpe_plan* plan,
                              const void* const* inputs, void* const* outputs, size_t shard_bytes,
                              uint32_t flags, calpe_error* error) {
  const calpe_status status =
      __real_calpe_run(codec, plan, inputs, outputs, shard_bytes, flags, error);
  const bool is_delta = (flags & CALPE_RUN_ACCUMULATE) != 0;
  if (is_delta) count_call();
  static const std::string_view mode = variable("CALPE_TWIN");
  if (mode == (is_delta ? "wrong-delta" : "wrong-rebuild") && shard_bytes != 0) {
    static_cast<unsigned char*>(outputs[0])[0] ^= 1;
  }
  return status;
}
}
