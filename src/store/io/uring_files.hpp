// SPDX-License-Identifier: Apache-2.0
// File system that batches transfers with io_uring.
#pragma once
#include "store/io/file_system.hpp"

namespace calpe::store {

// Like posix_files(), but write_all() and read_all() submit all transfers with one system call.
// Fails with backend_unavailable if built without liburing or if the kernel refuses io_uring.
Result<FileSystem*> uring_files();

}  // namespace calpe::store
