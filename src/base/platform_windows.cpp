// SPDX-License-Identifier: Apache-2.0
// Windows, which has no setuid programs and no signals for threads.
#include <cstdlib>
#include <vector>
#include <windows.h>

#include "base/platform.hpp"

namespace calpe::platform {

const char* variable(const char* name) noexcept {
  return std::getenv(name);
}

bool is_privileged() noexcept {
  return false;
}

std::size_t level2_cache_bytes() noexcept {
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  try {
    std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> rows(bytes / sizeof(rows[0]));
    if (rows.empty() || GetLogicalProcessorInformation(rows.data(), &bytes) == 0) return 0;
    for (const auto& row : rows) {
      if (row.Relationship == RelationCache && row.Cache.Level == 2) return row.Cache.Size;
    }
  } catch (const std::bad_alloc&) {  // then the size is unknown
  }
  return 0;
}

void with_signals_blocked(const std::function<void()>& start) {
  start();
}

void name_thread(std::thread&, const char*) noexcept {}

}  // namespace calpe::platform
