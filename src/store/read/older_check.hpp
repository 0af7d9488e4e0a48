// SPDX-License-Identifier: Apache-2.0
// Checks the undo journals of older generations.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct OlderGeneration {
  FoundSet set;
  std::vector<ShardIndex> missing = {};  // shards without an undo journal, or lost themselves
  std::vector<ShardIndex> damaged = {};  // their undo journal has bad bytes
  std::uint64_t undo_bytes = 0;          // of the journals of this generation
  bool is_restorable = false;            // by the shards that exist
  bool is_good() const noexcept { return missing.empty() && damaged.empty(); }
};

// Takes the result of kept_generations(). Reads all undo journals if `reads_all`, else only their
// size.
Result<std::vector<OlderGeneration>> check_older(FileSystem& files,
                                                 const std::vector<FoundSet>& kept, bool reads_all);

// Compares all bytes of a journal with its checksums. Unreadable bytes are not good.
bool is_journal_good(FileSystem& files, const std::string& path);

}  // namespace calpe::store
