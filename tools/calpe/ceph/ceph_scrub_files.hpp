// SPDX-License-Identifier: Apache-2.0
// Reads and writes shards in files: NAME.0, NAME.1 ... as Ceph's tools write them, or exports of
// placement groups.
#pragma once
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_groups.hpp"
#include "calpe/files/file_verb.hpp"

namespace calpe::tools {

// Finds all objects in the given directories and files. Fails with invalid_argument if a given file
// is neither a shard nor an export, or if nothing is found.
Result<std::vector<ScrubObject>> find_objects(const FilesArguments& arguments);

// Writes a new file and creates its directory. Fails if the file exists.
Status write_new(const std::string& folder, const std::string& name,
                 std::span<const std::byte> bytes);
// Rewrites a file in place, which keeps owner and mode. An interruption is harmless, because the
// old shard was wrong anyway.
Status rewrite(const std::string& path, std::span<const std::byte> bytes);

}  // namespace calpe::tools
