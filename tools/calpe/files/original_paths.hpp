// SPDX-License-Identifier: Apache-2.0
// Finds the originals that parity files protect in place.
#pragma once
#include <string>

#include "store/find/set_discovery.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

// Returns `given`, or else the path with the name of the set next to its parity files. The path
// need not exist if there is only one candidate, because repair may recreate it. Does not follow a
// link unless it was given. Fails with invalid_argument.
Result<std::string> original_of(const std::string& given, const store::FoundSet& set);

// Fails with invalid_argument if the data cannot be repaired because the path is probably wrong: it
// has no file of the set.
Status check_original_found(const store::FoundSet& set, const store::VerifyReport& report);

// Directory and name under which later commands look for the source of protect.
struct OriginalName {
  std::string folder;
  std::string name;
};
Result<OriginalName> original_name(const std::string& source);

}  // namespace calpe::tools
