// SPDX-License-Identifier: Apache-2.0
// Recognises a shard by its header at either end.
#pragma once
#include <optional>
#include <string>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct FoundFile {
  ShardHeader header;
  FoundShard shard;
};

// Same as look_at_file(), for an open file.
Result<std::optional<FoundFile>> look_at_open_file(File& file);

// Reads at most three times 4,096 bytes. Returns nullopt if no header is good. Fails with io if the
// file cannot be opened or measured, or if no header is good and one could not be read.
Result<std::optional<FoundFile>> look_at_file(FileSystem& files, const std::string& path);

}  // namespace calpe::store
