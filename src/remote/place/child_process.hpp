// SPDX-License-Identifier: Apache-2.0
// Runs a program with bytes as its input and returns its output.
#pragma once
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::remote {

// A path under which the program can open its whole input as a regular file.
inline constexpr const char* child_input_path = "/proc/self/fd/0";

struct ChildResult {
  int exit_code = 0;
  std::vector<std::byte> output;  // standard output
  std::string errors;             // standard error, the last 4 KiB
};

// arguments[0] is a path. The input is complete before the program starts, so a program that
// outlives us still reads all of it. Signals of the terminal do not reach it. Fails with io if the
// program cannot be started, is killed by a signal, or writes more than `output_bytes_max`. If it
// neither writes nor ends for the time limit, it is killed with its children.
Result<ChildResult> run_child(const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, std::size_t output_bytes_max,
                              std::chrono::milliseconds time_limit);

}  // namespace calpe::remote
