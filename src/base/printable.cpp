// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

namespace calpe {

std::string printable(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char letter : text.substr(0, bytes_max)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20U && byte != 0x7fU) {
      out += letter;
    } else {
      out += "\\x";
      out += digits[byte / 16U];
      out += digits[byte % 16U];
    }
  }
  if (text.size() > bytes_max) out += "...";
  return out;
}

}  // namespace calpe
