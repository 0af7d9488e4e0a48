// SPDX-License-Identifier: Apache-2.0
// Detects what a file or disk holds before it becomes a member: a file system, a partition table, a
// member of an array, or any bytes that are not zero.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "array/format/superblock.hpp"

namespace calpe::array {

struct DiskContents {
  std::optional<Superblock> member = {};  // the newer of its two
  std::string other = {};                 // "ext4 file system"; empty = nothing known
  // Size of a file or disk whose contents are unknown and not all zeros; else 0.
  std::uint64_t unknown_bytes = 0;
};

// Only reads. In a file, checks the first 256 MiB that are not holes and the last MiB; on a disk,
// the first and the last MiB. Fails with io if `path` cannot be opened or read.
Result<DiskContents> contents_of(const std::string& path);

// Reads only the superblocks; nullopt if there is none. Fails as contents_of() does.
Result<std::optional<Superblock>> superblock_of(const std::string& path);

// Refuses a file or disk that holds data, including a member of any array.
Status check_blank(const std::string& path);

}  // namespace calpe::array
