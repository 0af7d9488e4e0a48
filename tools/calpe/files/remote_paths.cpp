// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/remote_paths.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace calpe::tools {

namespace {

bool has_scheme(std::string_view path) {
  const std::string_view scheme = path.substr(0, path.find("://"));
  return scheme.size() != path.size() && !scheme.empty() && std::ranges::all_of(scheme, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

}  // namespace

Status refuse_remote(std::string_view path) {
  const bool is_rclone = path.starts_with("rclone:") && path.find(':', 7) != std::string_view::npos;
  if (!is_rclone && !has_scheme(path)) return Done{};
  return invalid(
      printable(path),
      ": this command works on local directories; use calpe remote for remote places, or "
      "write ./",
      printable(path), " for a local directory of that name");
}

}  // namespace calpe::tools
