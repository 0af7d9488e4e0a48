// SPDX-License-Identifier: Apache-2.0
// Shards in files: NAME.0, NAME.1 ... as Ceph's tools write them, or exports of placement groups;
// and writing such files.
#pragma once
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_groups.hpp"
#include "calpe/files/files_common.hpp"

namespace calpe::tools {

// All in these folders and files. Fails with invalid_argument when a file that was named is
// neither, or nothing is found.
Result<std::vector<ScrubObject>> find_objects(const FilesArguments& arguments);

// A file that is not there yet; its folder is made.
Status write_new(const std::string& folder, const std::string& name,
                 std::span<const std::byte> bytes);
// In place, so that owner and mode stay: were it interrupted, only a wrong shard would still be
// wrong.
Status rewrite(const std::string& path, std::span<const std::byte> bytes);

}  // namespace calpe::tools
