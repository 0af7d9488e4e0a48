// SPDX-License-Identifier: Apache-2.0
// Makes originals and their parity whole again.
#pragma once
#include "store/repair/repair_set.hpp"

namespace calpe::store {

// Puts files back that are missing or damaged (temporary name, sync, rename), and makes parity
// files anew that are. Files that somebody has changed are left unless options.overwrite; the
// report names them, and the set is not whole then. What was written is read back. Writes nothing
// when some stripe cannot be repaired: fails with unrecoverable and names stripes and files.
Result<RepairReport> repair_originals(FileSystem& files, const FoundSet& set,
                                      const RepairOptions& options);

}  // namespace calpe::store
