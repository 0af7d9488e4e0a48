// SPDX-License-Identifier: Apache-2.0
// The logs of members from their starts on, read in runs that grow: a log of many small batches
// costs as many requests as one of a few large ones, and an empty one costs a block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/format/layout.hpp"
#include "array/state/roster.hpp"

namespace calpe::array {

class LogReader {
 public:
  LogReader(const MemberLayout& layout, Roster& roster);

  // So many bytes of a role's log, whole blocks, which are good until the role is asked for others.
  // Empty: the log ends before, or they cannot be read. What is written meanwhile may not be seen.
  std::span<const std::byte> read(unsigned role, std::uint64_t at, std::uint64_t bytes);

 private:
  struct Window {
    std::uint64_t from = 0;
    std::vector<std::byte> bytes = {};
    std::uint64_t next_bytes = block_bytes;
  };
  bool fill(unsigned role, std::uint64_t at, std::uint64_t bytes);

  const MemberLayout& layout_;
  Roster& roster_;
  std::vector<Window> windows_;  // by role
};

}  // namespace calpe::array
