// SPDX-License-Identifier: Apache-2.0
// Restores originals in place.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "store/read/in_place_check.hpp"
#include "store/tree/tree.hpp"

namespace calpe::store {

// Restores the files in `states` with content from `read`. Each gets its name when it is complete;
// an existing one keeps owner and mode. Creates missing directories. Never writes outside
// `original`. Fails with io and if `read` fails.
Status put_back(const Manifest& manifest, std::span<const OriginalState> states,
                const ReadContent& read, const std::string& original,
                const RestoreOptions& options);

}  // namespace calpe::store
