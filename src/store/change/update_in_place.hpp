// SPDX-License-Identifier: Apache-2.0
// Rebuilds the parity files of kept originals after files were changed, added or removed.
#pragma once
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/change/removal_guard.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct UpdateOriginalsOptions {
  unsigned jobs = 1;
  bool dry_run = false;                                  // reports changes and writes nothing
  unsigned removed_percent_max = removed_percent_usual;  // as in UpdateOptions
  OnProgress on_progress = {};  // of twice the content: verified, then encoded
};

struct UpdatedOriginals {
  ShardHeader header;                     // new header; same generation if nothing changed
  std::vector<std::string> paths = {};    // parity files written
  std::vector<std::string> changed = {};  // files and links with other bytes
  std::vector<std::string> added = {};    // entries of any type
  std::vector<std::string> removed = {};
  std::vector<std::string> skipped = {};  // sockets, devices, pipes
};

// Rebuilds all parity files with the same uuid and a new generation, and replaces the old ones when
// the new ones are complete (ShardFiles::publish). First compares files of unchanged size and time
// with their checksums, so that damage does not get into new parity. Fails with corrupt and names
// such a file ("run calpe repair first"), with invalid_argument if parity files are damaged,
// set.original does not exist or more would be removed than permitted, and with io.
Result<UpdatedOriginals> update_originals(FileSystem& files, const FoundSet& set,
                                          const UpdateOriginalsOptions& options = {});

}  // namespace calpe::store
