// SPDX-License-Identifier: Apache-2.0
// More parity for a set, without rewriting the shards that it has.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "store/found_set.hpp"
#include "store/protect.hpp"

namespace calpe::store {

// The code with m = parity_shards, resolved, if its first parity rows are those of `spec`: old
// parity shards are then shards of it as they are. Nothing: they are not. Fails with
// invalid_argument when m is not larger or too large, and with unproven.
Result<std::optional<CodeSpec>> extended_spec(const CodeSpec& spec, unsigned parity_shards);

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
