// SPDX-License-Identifier: Apache-2.0
// Bytes and numbers as hexadecimal digits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace calpe {

// Returns two digits for each byte, in order: "00ff".
inline std::string hex_digits(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const std::byte byte : bytes) {
    out += digits[std::to_integer<unsigned>(byte) >> 4U];
    out += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return out;
}

// Returns 16 digits, the highest first.
inline std::string hex_number(std::uint64_t value) {
  std::string out;
  for (unsigned left = 64; left != 0; left -= 4)
    out += "0123456789abcdef"[value >> (left - 4) & 15U];
  return out;
}

// Reads two digits for each byte, of either case. Returns false if there is anything else.
inline bool parse_hex_digits(std::string_view digits, std::span<std::byte> bytes) {
  if (digits.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    constexpr std::string_view known = "0123456789abcdefABCDEF";
    const std::size_t at = known.find(digits[i]);
    if (at == std::string_view::npos) return false;
    const auto value = static_cast<std::byte>(at < 16 ? at : at - 6);
    bytes[i / 2] = i % 2 == 0 ? value << 4U : bytes[i / 2] | value;
  }
  return true;
}

}  // namespace calpe
