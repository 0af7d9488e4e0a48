// SPDX-License-Identifier: Apache-2.0
// Arguments of `calpe equations`; cauchyrs fills the same struct from its own command line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>

namespace calpe::tools {

struct EquationsArguments {
  // The code, or a program as text.
  unsigned data = 0;  // 0: not given; the same for the next three
  unsigned parity = 0;
  unsigned groups = 0;
  unsigned word_bits = 0;
  std::string profile = "cauchy";
  std::string matrix = "profile";  // or known, search: fewest XORs, different parity bytes
  std::string from;                // "-": standard input
  std::vector<ShardIndex> lose;

  // How to transform it.
  std::string style;  // empty: direct, or as given with `from`
  std::string budget = "standard";
  std::uint64_t seed = 1;
  std::vector<std::string> disabled_passes;
  bool trace = false;

  // What to write, and where.
  std::string emit = "text";
  std::size_t unit_bytes = 0;
  std::string name = "calpe_xor";  // name of the function or kernel
  std::string output;              // empty: standard output, unless there is a report
  std::string dot;

  // Reports.
  bool stats = false;
  bool json = false;
  bool check = false;
  std::string equals;
  bool compile_run = false;
};

// Returns an exit code (cli/exit_codes.hpp). Messages begin with `command`.
int run_equations(const EquationsArguments& arguments, const std::string& command);

}  // namespace calpe::tools
