// SPDX-License-Identifier: Apache-2.0
// Repairs a damaged set.
#pragma once
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/format/content_ranges.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::store {

struct RepairOptions {
  // Directories for missing shards (loss_margin.hpp); empty: those in `named`, with or without
  // shards, and those of the other shards.
  std::vector<std::string> targets = {};
  std::vector<std::string> named = {};
  unsigned jobs = 1;
  // The caller checked the HMAC or root of the set, so it may replace older shards with roots.
  bool is_proven = false;
  bool overwrite = false;  // also restore originals that were changed on purpose
  // Repairs all other stripes if some cannot be repaired. Refused for sets with roots, which prove
  // only complete shards.
  bool partial = false;
  // Counts twice the content: verified, then repaired. With roots, three times.
  OnProgress on_progress = {};
};

struct RepairReport {
  VerifyReport before;
  std::uint64_t blocks_written = 0;
  std::vector<std::string> files_changed = {};
  std::vector<std::string> files_created = {};
  // Subset of files_created that replaced a shard of an older generation or a file without a good
  // header.
  std::vector<std::string> files_replaced = {};
  // Shards of an older set, which an interrupted protect --overwrite was replacing with this one,
  // or of an older generation of kept originals.
  std::vector<std::string> files_removed = {};
  // Originals that were restored, and those kept because they were changed on purpose.
  std::vector<std::string> originals_restored = {};
  std::vector<std::string> originals_left = {};
  // Paths where something else is in the way, such as a directory of the name of a file. What
  // belongs there or below was not restored.
  std::vector<std::string> originals_blocked = {};
  // With options.partial: content that no good block has, and originals that were not restored.
  std::vector<ContentRange> lost = {};
  std::vector<std::string> originals_lost = {};

  bool is_any_lost() const noexcept { return !before.is_repairable(); }
};

// Rewrites bad blocks, checksums and headers in place, and rebuilds shards that are missing or have
// shifted bytes (temporary name, sync, rename). Reads back all writes. Writes nothing if a stripe
// cannot be repaired: fails with unrecoverable and names the stripes.
// With roots, writes nothing unless the repaired shards would match the root of the set, and
// rebuilds files that do not match their roots. Needs no key: all headers have the HMAC and the
// root. If interrupted, every stripe keeps the good blocks that it had. Keeps shards of older
// generations unless one has the name of a missing shard; replaces one with a root only if
// options.is_proven.
// With options.partial, blocks that cannot be rebuilt stay bad: no file gets a valid checksum for
// them, so that verify and restore still report them and a shard found later can rebuild them.
// Keeps the parity files of originals as they are. Fails with unrecoverable if every stripe is
// lost.
// When the set is good and its protect --overwrite was interrupted, removes the replaced set.
Result<RepairReport> repair_set(FileSystem& files, const FoundSet& set,
                                const RepairOptions& options = {});

}  // namespace calpe::store
