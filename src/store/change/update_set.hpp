// SPDX-License-Identifier: Apache-2.0
// Updates a set to the current state of the files that it protects.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/change/removal_guard.hpp"
#include "store/change/stripe_update.hpp"
#include "store/find/set_discovery.hpp"
#include "store/format/key.hpp"

namespace calpe::store {

struct UpdateOptions {
  unsigned jobs = 1;
  // Read and compare every file, instead of trusting size and time.
  bool checksum = false;
  std::vector<std::string> exclude = {};  // as in ScanOptions
  bool dry_run = false;                   // reports changes and writes nothing
  // Largest share of entries, and of bytes, that may be removed (removal_guard.hpp).
  unsigned removed_percent_max = removed_percent_usual;
  Key key = {};  // for a set with an HMAC
  // Older generations that remain readable after the update.
  std::uint64_t older_kept = 0;
  // Counts file bytes compared (checksum), then content bytes of the stripes read.
  OnProgress on_progress = {};
};

struct UpdateReport {
  ShardHeader header;  // new header
  // Paths of files, directories and links in the tree; "" is the protected directory itself.
  std::vector<std::string> added = {};
  std::vector<std::string> changed = {};
  std::vector<std::string> removed = {};
  unsigned removed_percent = 0;            // Removal::percent()
  std::vector<std::string> metadata = {};  // changed in mode, owner or time only
  std::uint64_t unchanged = 0;
  std::vector<std::string> skipped = {};         // sockets, devices, pipes
  std::vector<std::string> unused_exclude = {};  // patterns that match nothing
  StripeCounts stripes = {};
  std::uint64_t file_bytes_read = 0;
  std::uint64_t block_bytes_written = 0;  // to the journals and then to the shards
  std::uint64_t data_bytes = 0;           // of content, without the manifest
  std::uint64_t unused_bytes = 0;         // of these, data of deleted files
  std::uint64_t undo_bytes = 0;           // of all undo journals afterwards

  bool is_anything_changed() const noexcept {
    return !(added.empty() && changed.empty() && removed.empty() && metadata.empty());
  }
};

// Reads only changed files and writes only blocks that differ, through journals
// (generation_update.hpp): an interruption leaves the old or the new set. Writes nothing if nothing
// changed. Fails with corrupt if a shard is missing or a needed block is damaged ("run calpe repair
// first"), with invalid_argument if the set is a stream, the source is a file and the set a
// directory or vice versa, or more would be removed than permitted, and with io, also if a file
// changes while it is read. The set is unchanged after a failure. A dry run reports a removal that
// is not permitted and does not fail.
Result<UpdateReport> update_set(FileSystem& files, const FoundSet& set, const std::string& source,
                                const UpdateOptions& options = {});

}  // namespace calpe::store
