// SPDX-License-Identifier: Apache-2.0
// Parses and prints numbers of bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe {

Result<std::size_t> parse_bytes(std::string_view text);     // "4096", "64K", "1MiB": a shard size
Result<std::uint64_t> parse_offset(std::string_view text);  // the same, from 0 and without a limit
std::string bytes_to_text(std::size_t bytes);               // "4 KiB", or "4097 B"

}  // namespace calpe
