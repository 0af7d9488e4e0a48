// SPDX-License-Identifier: Apache-2.0
// Finds the directory for compiled code and checks it: code is loaded from there, so only its owner
// may write to it.
#pragma once
#include <optional>
#include <string>

#include <calpe/result.hpp>

#include "base/private_folder.hpp"

namespace calpe::kernel {

struct CacheLocation {
  std::string folder;        // empty: no disk cache
  bool is_explicit = false;  // set by CALPE_CACHE_DIR, so refusing it is an error
};

// CALPE_CACHE_DIR, else XDG_CACHE_HOME/calpe, else HOME/.cache/calpe. An empty CALPE_CACHE_DIR, or
// no home, disables the cache.
CacheLocation cache_location();

// Creates the directory and its parents, for the owner only, if they are missing. Fails with io if
// it cannot be created, belongs to another user, or is writable by group or others. Users who can
// replace one of its parents are trusted.
Result<PrivateFolder> prepare_folder(const std::string& folder);

}  // namespace calpe::kernel
