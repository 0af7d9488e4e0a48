// SPDX-License-Identifier: Apache-2.0
// What an option takes, read from its type name: the one text from which --help names it and
// completion offers it. Type names are
//   "FILE", "FOLDER", "PROFILE", ...  what --help says; completion knows some of them
//   "OPERATION:{encode,decode}"       the same, and all that it can be
// and CLI11 appends what its checks expect: "TEXT:{bytes,packets}", "UINT:INT in [1 - 255]".
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace calpe::tools {

struct Operand {
  std::string name;                // "FILE", "N", "bytes|packets"; empty: a flag takes none
  std::vector<std::string> words;  // all that it can be; empty: not a few words
  std::string range;               // "1 to 255"; empty: not checked
  bool is_repeatable = false;
};

Operand operand_of(const CLI::Option& option);

// A type name with all that the operand can be: "OPERATION:{encode,decode}".
std::string type_name_with(const std::string& name, const std::vector<std::string>& words);

}  // namespace calpe::tools
