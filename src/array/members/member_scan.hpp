// SPDX-License-Identifier: Apache-2.0
// Finds members of arrays by their superblocks.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "array/format/superblock.hpp"

namespace calpe::array {

struct ScannedMember {
  std::string path;
  Superblock superblock;
};

// Reads the superblocks of these files and block devices, and of those in these directories, not
// below them, in the order of their names. A file with several names occurs once, under the first.
// Skips what cannot be read. Opens at most 4096 entries of a directory.
std::vector<ScannedMember> scan_places(std::span<const std::string> places);

// The directories of these paths, each once.
std::vector<std::string> folders_of(std::span<const std::string> paths);

}  // namespace calpe::array
