// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/cache_folder.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include "base/env.hpp"
#include "base/text.hpp"

namespace calpe::kernel {

namespace {

constexpr const char* folder_variable = "CALPE_CACHE_DIR";
constexpr mode_t private_mode = 0700;

}  // namespace

CacheLocation cache_location() {
  if (const auto given = environment_or_empty(folder_variable)) {
    return {.folder = *given, .is_explicit = true};
  }
  // XDG rule: ignore a relative path.
  const auto cache = environment("XDG_CACHE_HOME");
  if (cache && cache->starts_with('/')) return {.folder = *cache + "/calpe"};
  if (const auto home = environment("HOME")) return {.folder = *home + "/.cache/calpe"};
  return {};
}

Result<PrivateFolder> prepare_folder(const std::string& folder) {
  for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
    const std::string part = folder.substr(0, at);
    // Problems with existing parts are reported below.
    if (mkdir(part.c_str(), private_mode) != 0 && errno != EEXIST && at == std::string::npos) {
      return make_error(ErrorCode::io, "cannot create directory ", folder, ": ",
                        std::strerror(errno));
    }
    if (at == std::string::npos) break;
  }
  return PrivateFolder::open(folder);
}

}  // namespace calpe::kernel
