// SPDX-License-Identifier: Apache-2.0
// Where a path leads to: what is lost with it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace calpe::store {

struct Whereabouts {
  std::string path;          // absolute, links resolved
  std::uint64_t device = 0;  // st_dev
  std::uint64_t inode = 0;   // st_ino, the same under another mount; 0: it does not exist
};

// Of a path that does not exist: those of the nearest folder above it, with the rest of the path.
// Where the system tells nothing: the path itself, on device 0.
Whereabouts whereabouts(const std::string& path);

// For tests with devices of their own.
using Locate = std::function<Whereabouts(const std::string& path)>;

}  // namespace calpe::store
