// SPDX-License-Identifier: Apache-2.0
// The part of a manifest that a person asks for.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "store/format/manifest.hpp"

namespace calpe::store {

// The entries that match any of the patterns, everything below a directory that matches, and the
// directories above. A pattern is a path, or has the wildcards *, ? and [...], which also match a
// slash, as those of tar do. Fails with invalid_argument if a pattern matches nothing.
Result<Manifest> select_entries(const Manifest& manifest, std::span<const std::string> patterns);

// Bytes [begin, end) of a file or stream, as a file. Fails with invalid_argument if the file is
// shorter.
Result<Entry> slice_entry(const Entry& entry, std::uint64_t begin, std::uint64_t end);

}  // namespace calpe::store
