// SPDX-License-Identifier: Apache-2.0
// Parity of originals as they are now: files may have been changed, added and removed.
#pragma once
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/change/removal_guard.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct UpdateOriginalsOptions {
  unsigned jobs = 1;
  bool dry_run = false;  // says what would change, and writes nothing
  unsigned removed_percent_max = removed_percent_usual;  // as UpdateOptions
  OnProgress on_progress = {};  // of twice the content: it is verified, then coded
};

struct UpdatedOriginals {
  ShardHeader header;                     // after; the same generation: nothing was changed
  std::vector<std::string> paths = {};    // parity files that were written
  std::vector<std::string> changed = {};  // of the manifest: files and links with other bytes
  std::vector<std::string> added = {};    // anything
  std::vector<std::string> removed = {};
  std::vector<std::string> skipped = {};  // sockets, devices, pipes
};

// All parity files anew, with the same uuid and a new generation; the old ones are replaced when
// the new ones are complete (ShardFiles::publish). Before that, files whose size and time are those
// of the manifest are held against their checksums: what has rotted must not get into new parity.
// Fails with corrupt and names such a file ("repair it first"), with invalid_argument when parity
// files are damaged, set.original is not there or more would be removed than is permitted, with io.
Result<UpdatedOriginals> update_originals(FileSystem& files, const FoundSet& set,
                                          const UpdateOriginalsOptions& options = {});

}  // namespace calpe::store
