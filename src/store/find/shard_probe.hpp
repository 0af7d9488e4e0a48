// SPDX-License-Identifier: Apache-2.0
// Whether a file is a shard, by its header at either end.
#pragma once
#include <optional>
#include <string>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct FoundFile {
  ShardHeader header;
  FoundShard shard;
};

// Of an open file.
Result<std::optional<FoundFile>> look_at_open_file(File& file);

// Reads three times 4,096 bytes at most. Nothing: no header is good. Fails with io when the file
// cannot be opened or measured, or where there is no good header and one could not be read.
Result<std::optional<FoundFile>> look_at_file(FileSystem& files, const std::string& path);

}  // namespace calpe::store
