// SPDX-License-Identifier: Apache-2.0
// Lists a file, or a folder and all that is in it, for a content.
#pragma once
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

// Which file it was: one that was replaced has the same name and perhaps size and time.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::int64_t change_seconds = 0;
  std::int64_t change_nanoseconds = 0;
};

struct ScannedTree {
  FolderWalk walk;       // from the folder
  Descriptor file = {};  // instead, when a single file was given
  Manifest manifest = {};
  std::vector<FileIdentity> identities = {};  // of the manifest's entries
  std::vector<std::string> skipped = {};      // sockets, devices, pipes
  std::uint64_t data_bytes = 0;
};

// In the order of the bytes of names, folders before their content: the same tree gives the same
// manifest. Fails with io.
Result<ScannedTree> scan_tree(const std::string& path);

}  // namespace calpe::store
