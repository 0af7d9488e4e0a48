// SPDX-License-Identifier: Apache-2.0
// Where compiled code is kept, and whether it may be: we load from there, so nobody else may write.
#pragma once
#include <optional>
#include <string>

#include <calpe/result.hpp>

#include "base/private_folder.hpp"

namespace calpe::kernel {

struct CacheLocation {
  std::string folder;        // empty: nothing is kept on disk
  bool is_explicit = false;  // said by CALPE_CACHE_DIR, so that its refusal is an error
};

// CALPE_CACHE_DIR, else XDG_CACHE_HOME/calpe, else HOME/.cache/calpe. CALPE_CACHE_DIR set to
// nothing, and no home, mean no folder.
CacheLocation cache_location();

// Makes the folder and its parents, for the owner alone, where they are missing. Fails with io when
// it cannot be made, belongs to somebody else, or may be written by group or others. Whoever may
// replace one of its parents is trusted.
Result<PrivateFolder> prepare_folder(const std::string& folder);

}  // namespace calpe::kernel
