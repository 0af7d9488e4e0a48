// SPDX-License-Identifier: Apache-2.0
// Brings a set of shards to the present state of the files that it protects.
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
  // Every file is read and compared with what the set has of it; else size and time are believed.
  bool checksum = false;
  bool dry_run = false;  // what differs is told, nothing is written
  // Largest share of the set's entries, and of its bytes, that may be removed (removal_guard.hpp).
  unsigned removed_percent_max = removed_percent_usual;
  Key key = {};  // of a set with an HMAC
  // Bytes of files that are compared (checksum), then of content in stripes that are looked at.
  OnProgress on_progress = {};
};

struct UpdateReport {
  ShardHeader header;  // of the set after
  // Paths in the tree, of files, folders and links; the folder itself is "".
  std::vector<std::string> added = {};
  std::vector<std::string> changed = {};
  std::vector<std::string> removed = {};
  unsigned removed_percent = 0;            // Removal::percent()
  std::vector<std::string> metadata = {};  // only mode, owner or time
  std::uint64_t unchanged = 0;
  std::vector<std::string> skipped = {};  // sockets, devices, pipes
  StripeCounts stripes = {};
  std::uint64_t file_bytes_read = 0;
  std::uint64_t block_bytes_written = 0;  // to the journals and then to the shards
  std::uint64_t data_bytes = 0;           // of content, the manifest not counted
  std::uint64_t unused_bytes = 0;         // of these, left by files that are gone

  bool is_anything_changed() const noexcept {
    return !(added.empty() && changed.empty() && removed.empty() && metadata.empty());
  }
};

// Only files that changed are read, and only blocks that differ are written, through journals
// (generation_update.hpp): killed at any moment, the set is the old one or the new one. Where
// nothing changed nothing is written. Fails with corrupt when a shard is missing or a block that is
// needed is damaged ("run calpe repair first"), with invalid_argument when the set is of a stream,
// the source is no folder where the set is of one, or more would be removed than is permitted, with
// io, and when a file changes while it is read; then the set is as it was. A dry run reports a
// removal that is not permitted and does not fail.
Result<UpdateReport> update_set(FileSystem& files, const FoundSet& set, const std::string& source,
                                const UpdateOptions& options = {});

}  // namespace calpe::store
