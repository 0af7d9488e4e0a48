// SPDX-License-Identifier: Apache-2.0
// Looks at target directories before a long write: is there space, and is the disk mounted?
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

// Bytes that will be written below a directory, which need not exist yet.
struct PlannedWrite {
  std::string folder;
  std::uint64_t bytes = 0;
};

// Compares the free space of each file system with the sum of what it gets. Part files of an
// interrupted run in these directories count as free, because they are resumed or replaced. Fails
// with io and names the directory. File systems that do not report their size pass.
Status check_space(const std::vector<PlannedWrite>& writes);

// "/mnt/a is a mount point in /etc/fstab, but nothing is mounted there; ...", or an empty string.
std::string unmounted_note(const std::string& folder, const std::string& fstab = "/etc/fstab");

}  // namespace calpe::tools
