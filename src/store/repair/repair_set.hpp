// SPDX-License-Identifier: Apache-2.0
// Makes a damaged set whole again.
#pragma once
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::store {

struct RepairOptions {
  // Where shards that are missing go (loss_margin.hpp); empty: to folders that were named, with
  // shards or without, and to those of the other shards.
  std::vector<std::string> targets = {};
  std::vector<std::string> named = {};
  unsigned jobs = 1;
  // The caller has checked the set's HMAC or root: it may take the names of older shards with
  // roots.
  bool is_proven = false;
  bool overwrite = false;  // also originals that somebody has changed since
  // Of twice the content: it is verified, then repaired. With roots it goes by once more.
  OnProgress on_progress = {};
};

struct RepairReport {
  VerifyReport before;
  std::uint64_t blocks_written = 0;
  std::vector<std::string> files_changed = {};
  std::vector<std::string> files_created = {};
  // Among files_created: these names were taken by a shard of an older generation, or by a file
  // without a good header, which is gone.
  std::vector<std::string> files_replaced = {};
  // Originals: those that were put back, and those that were not as somebody has changed them.
  std::vector<std::string> originals_restored = {};
  std::vector<std::string> originals_left = {};
};

// Rewrites bad blocks, checksums and headers in place, and makes shards anew (temporary name, sync,
// rename) that are missing, or whose bytes were moved along. What was written is read back. Writes
// nothing when some stripe cannot be repaired: fails with unrecoverable and names the stripes.
// With roots, nothing is written either unless all shards as they would be give the set's root;
// files that do not match theirs are made anew. It takes no key: HMAC and root are in all headers.
// Killed at any moment, every stripe keeps the good blocks that it had. Shards of older generations
// are left alone unless they have the name of a missing one; those with a root also then, unless
// options.is_proven.
Result<RepairReport> repair_set(FileSystem& files, const FoundSet& set,
                                const RepairOptions& options = {});

}  // namespace calpe::store
