// SPDX-License-Identifier: Apache-2.0
// Puts originals back where they were.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "store/read/in_place_check.hpp"
#include "store/tree/tree.hpp"

namespace calpe::store {

// Those of `states`, with content from `read`. Each is complete before it has its name. One that
// was there keeps owner and mode. Folders that are missing are made. Nothing outside of `original`
// is touched. Fails with io and as `read`.
Status put_back(const Manifest& manifest, std::span<const OriginalState> states,
                const ReadContent& read, const std::string& original,
                const RestoreOptions& options);

}  // namespace calpe::store
