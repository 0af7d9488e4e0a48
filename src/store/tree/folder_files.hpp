// SPDX-License-Identifier: Apache-2.0
// Lists a directory, or the regular files below it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/tree/tree_walk.hpp"

namespace calpe::store {

// Names of all entries, in byte order. `shown`: the name of the directory in messages. Fails with
// io.
Result<std::vector<std::string>> sorted_names(int folder, const std::string& shown);

struct FolderFile {
  std::string path;  // relative to the top of the walk
  std::uint64_t bytes = 0;
  std::int64_t seconds = 0;  // modification time
  std::uint32_t nanoseconds = 0;
};

enum class Depth : std::uint8_t { top, all };  // the directory alone, or everything below it

// Lists regular files. Follows no links, and leaves out what cannot be read.
std::vector<FolderFile> files_below(FolderWalk& walk, Depth depth);

}  // namespace calpe::store
