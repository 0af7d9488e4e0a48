// SPDX-License-Identifier: Apache-2.0
// Lists a file, or a directory with everything in it, for a content.
#pragma once
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

// Identifies a file, as a replaced file may have the same name, size and time.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::int64_t change_seconds = 0;
  std::int64_t change_nanoseconds = 0;
};

struct ScannedTree {
  FolderWalk walk;       // from the directory
  Descriptor file = {};  // used instead for a single file
  Manifest manifest = {};
  std::vector<FileIdentity> identities = {};  // by manifest entry
  std::vector<std::string> skipped = {};      // sockets, devices, pipes
  std::uint64_t data_bytes = 0;
};

// Sorts names bytewise, with directories before their contents, so that the same tree gives the
// same manifest. Fails with io.
Result<ScannedTree> scan_tree(const std::string& path);

}  // namespace calpe::store
