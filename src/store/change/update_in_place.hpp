// SPDX-License-Identifier: Apache-2.0
// Brings the parity of kept originals up to date after files were changed, added or removed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/change/removal_guard.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct UpdateOriginalsOptions {
  unsigned jobs = 1;
  bool checksum = false;  // checks all files and parity first, instead of trusting size and time
  bool dry_run = false;   // reports changes and writes nothing
  unsigned removed_percent_max = removed_percent_usual;  // as in UpdateOptions
  OnProgress on_progress = {};                           // the total may change once
};

struct UpdatedOriginals {
  ShardHeader header;                     // new header; same generation if nothing changed
  std::vector<std::string> paths = {};    // parity files written
  std::vector<std::string> changed = {};  // files and links with other bytes
  std::vector<std::string> added = {};    // entries of any type
  std::vector<std::string> removed = {};
  unsigned removed_percent = 0;            // Removal::percent()
  std::vector<std::string> metadata = {};  // changed in mode, owner or time only
  std::vector<std::string> skipped = {};   // sockets, devices, pipes
  // Unchanged files that share a block with changed ones, in stripes where too few blocks are as
  // they were: not all of their bytes could be compared.
  std::vector<std::string> unchecked = {};
  bool is_all_encoded = false;  // new parity files replaced the old ones
  std::uint64_t stripes_encoded = 0;
  std::uint64_t file_bytes_read = 0;  // of files; 0 if everything was read
};

// Reads only files whose size or time changed. Encodes the stripes with a block that does not match
// its checksum, and writes their parity through journals (generation_update.hpp): an interruption
// leaves the old or the new set. All blocks of these stripes are read, and bytes that did not
// change are compared with their checksums, so that damage does not get into new parity. Where that
// is impossible, all files are checked, as with options.checksum; what is left is in `unchecked`.
//
// If the number of stripes changes, more than half of the content would be unused, or a parity file
// is missing or damaged, checks and encodes everything instead (reencode_originals.hpp).
//
// Fails with corrupt and names a damaged file ("run calpe repair first"), with invalid_argument if
// set.original does not exist or more would be removed than permitted, and with io, also if a file
// changes while it is read. The set is unchanged after a failure.
Result<UpdatedOriginals> update_originals(FileSystem& files, const FoundSet& set,
                                          const UpdateOriginalsOptions& options = {});

}  // namespace calpe::store
