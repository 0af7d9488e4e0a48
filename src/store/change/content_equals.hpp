// SPDX-License-Identifier: Apache-2.0
// Whether a file still has the bytes that a set has of it, whatever its time says.
#pragma once
#include "store/read/set_reader.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::store {

// Both of `before.file_bytes`. Fails as the two that are read.
Result<bool> is_same_content(SetReader& set, const Entry& before, TreeFiles& files,
                             std::size_t entry, const Entry& after);

}  // namespace calpe::store
