// SPDX-License-Identifier: Apache-2.0
// Adds parity shards to a set without rewriting the existing shards.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct AddParityOptions {
  unsigned parity_shards = 0;             // new total
  std::vector<std::string> targets = {};  // as in RepairOptions
  std::vector<std::string> named = {};
  unsigned jobs = 1;
  OnProgress on_progress = {};
};

struct AddParityReport {
  ShardHeader before;
  ShardHeader after;
  std::vector<std::string> files_created = {};
  std::vector<std::string> files_replaced =
      {};  // subset of files_created that replaced an existing file
};

// Reads all data once and computes only the new parity. Changes headers and checksums of the old
// shards through journals, so that an interrupted run leaves the old or the new set. Fails with
// corrupt and changes nothing if a shard is missing or a data block does not match its checksum,
// and with invalid_argument if the old parity would have to change.
Result<AddParityReport> add_parity(FileSystem& files, const FoundSet& set,
                                   const AddParityOptions& options);

}  // namespace calpe::store
