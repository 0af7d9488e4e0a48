// SPDX-License-Identifier: Apache-2.0
// More parity for a set, without rewriting the shards that it has.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct AddParityOptions {
  unsigned parity_shards = 0;             // afterwards
  std::vector<std::string> targets = {};  // as RepairOptions
  std::vector<std::string> named = {};
  unsigned jobs = 1;
  OnProgress on_progress = {};
};

struct AddParityReport {
  ShardHeader before;
  ShardHeader after;
  std::vector<std::string> files_created = {};
  std::vector<std::string> files_replaced = {};  // among these: their names were taken
};

// All data are read once, only the new parity is computed. Of the old shards, headers and checksums
// change, through journals: killed at any moment the set is as before or has more parity. Fails
// with corrupt and changes nothing where the set is not whole or a data block does not match its
// checksum, and with invalid_argument where old parity would have to be another.
Result<AddParityReport> add_parity(FileSystem& files, const FoundSet& set,
                                   const AddParityOptions& options);

}  // namespace calpe::store
