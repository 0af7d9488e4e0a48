// SPDX-License-Identifier: Apache-2.0
#include "store/io/whereabouts.hpp"

#include <filesystem>
#include <sys/stat.h>

namespace calpe::store {

namespace fs = std::filesystem;

Whereabouts whereabouts(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path resolved = fs::weakly_canonical(absolute, error);
  if (error) resolved = absolute.lexically_normal();
  if (!resolved.has_filename() && resolved.has_relative_path()) resolved = resolved.parent_path();
  Whereabouts where = {.path = resolved.string()};
  for (fs::path at = resolved;; at = at.parent_path()) {
    struct stat about = {};
    if (stat(at.c_str(), &about) == 0) {
      where.device = static_cast<std::uint64_t>(about.st_dev);
      if (at == resolved) where.inode = static_cast<std::uint64_t>(about.st_ino);
      break;
    }
    if (!at.has_relative_path()) break;
  }
  return where;
}

}  // namespace calpe::store
