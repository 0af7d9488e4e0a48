// SPDX-License-Identifier: Apache-2.0
// Resolves a path to its directory and device, to tell what is lost together.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace calpe::store {

struct Whereabouts {
  std::string path;          // absolute, links resolved
  std::uint64_t device = 0;  // st_dev
  std::uint64_t inode = 0;   // st_ino, independent of the mount point; 0: does not exist
};

// For a path that does not exist, uses the nearest existing parent and appends the rest. If the
// system reports nothing, returns the path itself on device 0.
Whereabouts whereabouts(const std::string& path);

// Lets tests simulate devices.
using Locate = std::function<Whereabouts(const std::string& path)>;

}  // namespace calpe::store
