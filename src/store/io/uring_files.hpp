// SPDX-License-Identifier: Apache-2.0
// The file system through io_uring: many transfers with one call of the kernel.
#pragma once
#include "store/io/file_system.hpp"

namespace calpe::store {

// As posix_files(), but write_all() and read_all() hand everything to the kernel at once. Fails
// with backend_unavailable when this was built without liburing, or the kernel refuses it.
Result<FileSystem*> uring_files();

}  // namespace calpe::store
