// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

namespace calpe {

namespace {

struct Character {
  std::size_t bytes = 1;
  bool is_shown = false;  // safe to show on a terminal
};

// Decodes the first UTF-8 character; an invalid byte counts as one character.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80U) return {.bytes = 1, .is_shown = byte(0) >= 0x20U && byte(0) != 0x7fU};
  const std::size_t bytes = byte(0) >= 0xf0U ? 4 : byte(0) >= 0xe0U ? 3 : 2;
  if (byte(0) < 0xc2U || byte(0) > 0xf4U || text.size() < bytes) return {};
  unsigned code = byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool is_overlong = (bytes == 3 && code < 0x800U) || (bytes == 4 && code < 0x10000U);
  if (is_overlong || code > 0x10ffffU || (code >= 0xd800U && code < 0xe000U)) return {};
  // Control characters of 8-bit terminals, and marks that change the direction of text.
  const bool is_control = code < 0xa0U;
  const bool is_turning = code == 0x200eU || code == 0x200fU ||
                          (code >= 0x2028U && code <= 0x202eU) ||
                          (code >= 0x2066U && code <= 0x2069U);
  return {.bytes = bytes, .is_shown = !is_control && !is_turning};
}

}  // namespace

std::string printable(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view digits = "0123456789abcdef";
  const bool is_cut = text.size() > bytes_max;
  text = text.substr(0, bytes_max);
  std::string out;
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    if (character.is_shown) {
      out += bytes;
    } else {
      for (const char letter : bytes) {
        out += "\\x";
        out += digits[static_cast<unsigned char>(letter) / 16U];
        out += digits[static_cast<unsigned char>(letter) % 16U];
      }
    }
    text.remove_prefix(character.bytes);
  }
  if (is_cut) out += "...";
  return out;
}

}  // namespace calpe
