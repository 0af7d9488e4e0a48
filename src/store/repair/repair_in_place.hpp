// SPDX-License-Identifier: Apache-2.0
// Repairs kept originals and their parity files.
#pragma once
#include "store/repair/repair_set.hpp"

namespace calpe::store {

// Restores missing or damaged files (temporary name, sync, rename) and rebuilds missing or damaged
// parity files. Keeps files that were changed on purpose unless options.overwrite is set; the
// report lists them, and the set stays damaged. Reads back all writes. Writes nothing if a stripe
// cannot be repaired: fails with unrecoverable and names stripes and files.
Result<RepairReport> repair_originals(FileSystem& files, const FoundSet& set,
                                      const RepairOptions& options);

}  // namespace calpe::store
