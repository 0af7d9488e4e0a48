// SPDX-License-Identifier: Apache-2.0
// An option's operand, parsed from its CLI11 type name. --help and completion both use it. Type
// names are
//   "FILE", "DIR", "PROFILE", ...  placeholder in --help; completion knows some of them
//   "OPERATION:{encode,decode}"    placeholder and all possible values
// and CLI11 appends what its checks expect: "TEXT:{bytes,packets}", "UINT:INT in [1 - 255]".
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace calpe::tools {

struct Operand {
  std::string name;                // "FILE", "N", "bytes|packets"; empty for a flag
  std::vector<std::string> words;  // all possible values; empty if not enumerable
  std::string range;               // "1 to 255"; empty if not checked
  bool is_repeatable = false;
};

Operand operand_of(const CLI::Option& option);

// A type name with all possible values: "OPERATION:{encode,decode}".
std::string type_name_with(const std::string& name, const std::vector<std::string>& words);

}  // namespace calpe::tools
