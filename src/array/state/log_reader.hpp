// SPDX-License-Identifier: Apache-2.0
// Reads the logs of members from the start, in runs of growing size. A log of many small batches
// costs as many requests as one of a few large ones; an empty log costs one block.
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

  // Returns bytes of a role's log, in whole blocks, valid until the next call for that role. Empty
  // if the log ends earlier or cannot be read. Concurrent writes may be missed.
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
