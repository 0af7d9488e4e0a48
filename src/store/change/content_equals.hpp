// SPDX-License-Identifier: Apache-2.0
// Compares a file with its bytes in a set, regardless of its time.
#pragma once
#include "store/read/set_reader.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::store {

// Both have `before.file_bytes` bytes. Fails if reading either of them fails.
Result<bool> is_same_content(SetReader& set, const Entry& before, TreeFiles& files,
                             std::size_t entry, const Entry& after);

}  // namespace calpe::store
