// SPDX-License-Identifier: Apache-2.0
// Small files of settings for people to write: lines of `key = value`, in any order; # starts a
// comment. What keys there are, and what values, is the reader's matter.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

struct Setting {
  std::string_view key;  // views of what was split
  std::string_view value;
  std::size_t line = 0;  // the first is 1
};

// In the order of the lines. Fails with invalid_argument, naming path and line, when a line is
// something else or a key is there twice. A value may be empty.
Result<std::vector<Setting>> split_settings(std::string_view content, std::string_view path);

// "path:line: ", what an error in a setting begins with.
std::string place_of(const Setting& setting, std::string_view path);

// The whole text as one finite number; nothing otherwise. The same in every locale.
std::optional<double> parse_number(std::string_view text);

// The shortest text that parse_number reads back as the same.
std::string number_text(double number);

// Without blanks at either end.
std::string_view trimmed(std::string_view text);

// Also from a pipe. Fails with io: "cannot read <path>, expected <what>".
Result<std::string> read_settings(const std::string& path, std::string_view what);

}  // namespace calpe
