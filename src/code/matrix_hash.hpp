// SPDX-License-Identifier: Apache-2.0
// Identifies a code's arithmetic: field and parity rows. Part of the on-disk format.
#pragma once
#include <cstdint>

#include "code/code.hpp"

namespace calpe::code {

// XXH3-64 of w (1 byte), polynomial (4), rows (2), columns (2), then each coefficient (2), all
// little-endian. A wide code has the points of its shards instead of coefficients: those of N
// parities, then of the data. A hash of 0 becomes 1, because 0 means "not checked" in a spec.
std::uint64_t matrix_hash(const Code& code);

}  // namespace calpe::code
