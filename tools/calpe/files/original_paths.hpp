// SPDX-License-Identifier: Apache-2.0
// Files that stay where they are while parity files protect them: where they are.
#pragma once
#include <string>

#include "store/find/set_discovery.hpp"

namespace calpe::tools {

// `given`, or the name of the set beside its parity files. One that is not there is all right if
// there is but one place where it could be: repair may bring it back. A link is not followed unless
// it was given. Fails with invalid_argument.
Result<std::string> original_of(const std::string& given, const store::FoundSet& set);

// What protect would look for later, of a path that is given to it.
struct OriginalName {
  std::string folder;
  std::string name;
};
Result<OriginalName> original_name(const std::string& source);

}  // namespace calpe::tools
