// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/option_types.hpp"

#include <fmt/format.h>
#include <string_view>

namespace calpe::tools {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The text between two markers, or "" if either is missing.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(after, begin + before.size());
  if (end == std::string::npos) return "";
  return text.substr(begin + before.size(), end - begin - before.size());
}

// Turns CLI11's "1 - 255" into "1 to 255".
std::string range_text(std::string text) {
  const std::string dash = " - ";
  if (const std::size_t at = text.find(dash); at != std::string::npos)
    text.replace(at, dash.size(), " to ");
  return text;
}

}  // namespace

Operand operand_of(const CLI::Option& option) {
  Operand operand;
  if (option.get_type_size() == 0) return operand;
  const std::string type = option.get_type_name();
  operand.is_repeatable = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  operand.range = range_text(between(type, " in [", "]"));
  if (const std::string words = between(type, "{", "}"); !words.empty())
    operand.words = split(words, ',');
  operand.name = type.substr(0, type.find(':'));
  if (operand.name == "TEXT" && !operand.words.empty())
    operand.name = fmt::format("{}", fmt::join(operand.words, "|"));
  if (operand.name == "UINT" || operand.name == "INT")
    operand.name = type.find("SIZE [") == std::string::npos ? "N" : "BYTES";
  if (operand.name == "FLOAT") operand.name = "NUMBER";
  return operand;
}

std::string type_name_with(const std::string& name, const std::vector<std::string>& words) {
  return fmt::format("{}:{{{}}}", name, fmt::join(words, ","));
}

}  // namespace calpe::tools
