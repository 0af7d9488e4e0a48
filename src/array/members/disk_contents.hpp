// SPDX-License-Identifier: Apache-2.0
// Tells what is on a file or disk before it is made a member: a file system, a partition table, a
// member of an array.
#pragma once
#include <optional>
#include <string>

#include "array/format/superblock.hpp"

namespace calpe::array {

struct DiskContents {
  std::optional<Superblock> member = {};  // the newer of its two
  std::string other = {};                 // "an ext4 file system"; empty: nothing that is known
};

// Reads only. Fails with io when `path` cannot be opened or read.
Result<DiskContents> contents_of(const std::string& path);

// Refuses a file or disk that holds something, and names it. `path` may be of any array.
Status check_blank(const std::string& path);

}  // namespace calpe::array
