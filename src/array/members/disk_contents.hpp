// SPDX-License-Identifier: Apache-2.0
// Detects what a file or disk holds before it becomes a member: a file system, a partition table, a
// member of an array.
#pragma once
#include <optional>
#include <string>

#include "array/format/superblock.hpp"

namespace calpe::array {

struct DiskContents {
  std::optional<Superblock> member = {};  // the newer of its two
  std::string other = {};                 // "ext4 file system"; empty = nothing known
};

// Only reads. Fails with io if `path` cannot be opened or read.
Result<DiskContents> contents_of(const std::string& path);

// Refuses a file or disk that holds data, including a member of any array.
Status check_blank(const std::string& path);

}  // namespace calpe::array
