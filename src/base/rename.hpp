// SPDX-License-Identifier: Apache-2.0
// Messages name operands as the C++ API does. The Python API calls some of them differently and
// renames them in the message of an error.
#pragma once
#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>

namespace calpe {

struct Rename {
  std::string from;  // "object", "shards[4]"
  std::string to;
};

// Replaces whole words, each once: renamed("new_bytes has 7 bytes", {{"new_bytes", "new"}}).
inline std::string renamed(std::string_view message, std::span<const Rename> names) {
  const auto is_letter = [&](std::size_t at) {
    const auto letter = static_cast<unsigned char>(message[at]);
    return std::isalnum(letter) != 0 || letter == '_';
  };
  // At the edge of the text, or between a letter and something else.
  const auto is_edge = [&](std::size_t at) {
    return at == 0 || at == message.size() || !is_letter(at - 1) || !is_letter(at);
  };
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const auto found = std::ranges::find_if(names, [&](const Rename& name) {
      return message.substr(at).starts_with(name.from) && is_edge(at) &&
             is_edge(at + name.from.size());
    });
    if (found == names.end()) {
      out += message[at++];
    } else {
      out += found->to;
      at += found->from.size();
    }
  }
  return out;
}

}  // namespace calpe
