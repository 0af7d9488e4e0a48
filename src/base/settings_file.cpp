// SPDX-License-Identifier: Apache-2.0
#include "base/settings_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <locale>
#include <sstream>
#include <version>

#include "base/text.hpp"

namespace calpe {

Result<std::vector<Setting>> split_settings(std::string_view content, std::string_view path) {
  std::vector<Setting> settings;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return invalid(path, ":", number, ": line is \"", line, "\"; expected key = value");
    }
    const Setting setting = {trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)),
                             number};
    for (const Setting& before : settings) {
      if (before.key == setting.key) {
        return invalid(place_of(setting, path), setting.key, " is given twice, first in line ",
                       before.line);
      }
    }
    settings.push_back(setting);
  }
  return settings;
}

std::string place_of(const Setting& setting, std::string_view path) {
  return text(path, ":", setting.line, ": ");
}

#if defined(__cpp_lib_to_chars)

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string number_text(double number) {
  std::array<char, 32> digits{};  // at most 24: -1.2345678901234567e-308
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), end};
}

#else  // the libraries of g++ 10 and of macOS have no conversions of fractions

std::optional<double> parse_number(std::string_view text) {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double number = 0;
  stream >> std::noskipws >> number;
  const bool is_whole = !stream.fail() && stream.peek() == std::istringstream::traits_type::eof();
  if (!is_whole || text.front() == '+' || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string number_text(double number) {
  std::string digits;
  for (int precision = 1; precision <= 17 && parse_number(digits) != number; ++precision) {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream << std::setprecision(precision) << number;
    digits = stream.str();
  }
  return digits;
}

#endif

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

Result<std::string> read_settings(const std::string& path, std::string_view what) {
  std::ifstream file(path);
  file.peek();  // opening a directory succeeds; reading it fails
  if (!file.is_open() || file.bad()) {
    return make_error(ErrorCode::io, "cannot read ", path, "; expected ", what);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace calpe
