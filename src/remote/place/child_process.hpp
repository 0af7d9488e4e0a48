// SPDX-License-Identifier: Apache-2.0
// Runs a program with bytes as its input and returns its output.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::remote {

struct ChildResult {
  int exit_code = 0;
  std::vector<std::byte> output;  // standard output
  std::string errors;             // standard error, the last 4 KiB
};

// arguments[0] is a path. Fails with io if the program cannot be started, is killed by a signal, or
// writes more than `output_bytes_max`.
Result<ChildResult> run_child(const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, std::size_t output_bytes_max);

}  // namespace calpe::remote
