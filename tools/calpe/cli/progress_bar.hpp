// SPDX-License-Identifier: Apache-2.0
// The text of a progress bar for work that is counted in bytes: part, rate, time left.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace calpe::tools {

struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t all = 0;      // 0 if unknown
  std::uint64_t resumed = 0;  // part of `done` that was done before the start
  double seconds = 0;         // since the start
};

// "protecting photos  [####......]  42 %  310 MB/s  0:13 left", at most `columns` wide.
std::string bar_line(const std::string& what, const ProgressState& state, std::size_t columns);

// "1.2 GB", powers of 1,000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace calpe::tools
