// SPDX-License-Identifier: Apache-2.0
// Marks restored files that have zeros in place of lost bytes (restore --salvage) by their time. It
// is not that of the entry, so --resume and update do not take the file for complete. Its
// nanoseconds tell such a file from one of another program, so that --resume replaces it.
#pragma once
#include <sys/stat.h>

#include "store/format/manifest.hpp"

namespace calpe::store {

// The time of a file restored at `now`, in seconds since 1970.
timespec filled_time(const Entry& entry, std::int64_t now);

// True if the file has the size of the entry and such a time. Never true after a write to the file,
// or on a file system that does not store nanoseconds.
bool has_filled_time(const Entry& entry, const struct stat& about);

}  // namespace calpe::store
