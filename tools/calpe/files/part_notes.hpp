// SPDX-License-Identifier: Apache-2.0
// Notes about the part files of a protect or update that was interrupted, or is still running.
#pragma once
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::tools {

// Advises to remove parts only if no set needs them. `findings`: what the folders hold.
std::vector<std::string> part_notes(const std::vector<std::string>& folders,
                                    const store::Findings& findings);

}  // namespace calpe::tools
