// SPDX-License-Identifier: Apache-2.0
// The object that tells other computers which command is changing a set (docs/remote-format.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace calpe::remote {

inline constexpr std::size_t change_mark_bytes_max = 4096;

// Fields without a value are empty or 0.
struct ChangeMark {
  std::string verb;           // "update"
  std::uint64_t place = 0;    // index of the place that it was written to, as the command counts
  std::string host;           // name of the computer
  std::uint64_t process = 0;  // its number
  std::uint64_t started = 0;  // start of the process, in ticks since the boot
  std::string system;         // boot and process namespace; equal only where numbers compare
  std::uint64_t seconds = 0;  // since 1970, by the clock of that computer
};

std::vector<std::byte> to_bytes(const ChangeMark& mark);
// Accepts any bytes; fields that are missing or wrong keep their default.
ChangeMark parse_change_mark(std::span<const std::byte> bytes);

}  // namespace calpe::remote
