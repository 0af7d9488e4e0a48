// SPDX-License-Identifier: Apache-2.0
#include "nbdkit/command_line.hpp"

#include <fstream>
#include <string_view>

namespace calpe::nbd {

namespace {

constexpr std::string_view letters_with_value = "DegipPtuU";

}  // namespace

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');)
    arguments.push_back(one);
  return arguments;
}

std::string unix_socket_of(std::span<const std::string> arguments) {
  const auto value = [](std::string_view path) { return std::string(path == "-" ? "" : path); };
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view next = i + 1 < arguments.size() ? arguments[i + 1] : std::string_view();
    if (argument == "--") return {};
    if (argument.starts_with("--")) {
      const std::size_t equals = argument.find('=');
      const std::string_view name = argument.substr(2, equals - 2);
      // Abbreviated like other long options.
      if (name.empty() || !std::string_view("unix").starts_with(name)) continue;
      return value(equals == std::string_view::npos ? next : argument.substr(equals + 1));
    }
    if (!argument.starts_with('-')) continue;
    for (std::size_t at = 1; at < argument.size(); ++at) {
      if (letters_with_value.find(argument[at]) == std::string_view::npos) continue;
      const bool is_last = at + 1 == argument.size();
      if (argument[at] == 'U') return value(is_last ? next : argument.substr(at + 1));
      if (is_last) ++i;  // its value follows
      break;
    }
  }
  return {};
}

bool is_read_only_command(std::span<const std::string> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") return false;
    if (argument.starts_with("--")) {
      // Long options may be abbreviated, but --r alone could also be --run.
      const std::string_view name = argument.substr(2);
      const bool is_long = std::string_view("readonly").starts_with(name) ||
                           std::string_view("read-only").starts_with(name);
      if (is_long && name.size() > 1) return true;
      continue;
    }
    if (!argument.starts_with('-')) continue;
    for (std::size_t at = 1; at < argument.size(); ++at) {
      if (argument[at] == 'r') return true;
      if (letters_with_value.find(argument[at]) == std::string_view::npos) continue;
      if (at + 1 == argument.size()) ++i;  // its value follows
      break;
    }
  }
  return false;
}

}  // namespace calpe::nbd
