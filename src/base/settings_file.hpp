// SPDX-License-Identifier: Apache-2.0
// Reads small settings files: lines of `key = value` in any order; # starts a comment. The caller
// checks keys and values.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

struct Setting {
  std::string_view key;  // views of the split text
  std::string_view value;
  std::size_t line = 0;  // starts at 1
};

// Returns settings in the order of the lines. Fails with invalid_argument, naming path and line, if
// a line is malformed or a key occurs twice. A value may be empty.
Result<std::vector<Setting>> split_settings(std::string_view content, std::string_view path);

// Returns "path:line: ", the prefix of an error in a setting.
std::string place_of(const Setting& setting, std::string_view path);

// Parses the whole text as a finite number, independent of the locale; nullopt otherwise.
std::optional<double> parse_number(std::string_view text);

// Returns the shortest text that parse_number reads back as the same number.
std::string number_text(double number);

// Removes blanks at both ends.
std::string_view trimmed(std::string_view text);

// Also reads pipes. Fails with io: "cannot read <path>; expected <what>".
Result<std::string> read_settings(const std::string& path, std::string_view what);

}  // namespace calpe
