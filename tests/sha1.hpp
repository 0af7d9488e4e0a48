// SPDX-License-Identifier: Apache-2.0
// SHA-1 (FIPS 180-1) for the check values of the design; tests only.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

namespace calpe::tests {

inline std::string sha1_hex(std::string message) {
  std::array<std::uint32_t, 5> h = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const std::uint64_t bits = message.size() * 8;
  message.push_back(static_cast<char>(0x80));
  while (message.size() % 64 != 56)
    message.push_back('\0');
  for (int i = 7; i >= 0; --i)
    message.push_back(static_cast<char>(bits >> 8 * i));
  for (std::size_t block = 0; block < message.size(); block += 64) {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t i = 0; i < 64; ++i) {
      w[i / 4] = w[i / 4] << 8 | static_cast<std::uint8_t>(message[block + i]);
    }
    for (std::size_t i = 16; i < 80; ++i) {
      w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    auto [a, b, c, d, e] = h;
    for (std::size_t i = 0; i < 80; ++i) {
      const std::uint32_t f = i < 20   ? (b & c) | (~b & d)
                              : i < 40 ? b ^ c ^ d
                              : i < 60 ? (b & c) | (b & d) | (c & d)
                                       : b ^ c ^ d;
      constexpr std::array<std::uint32_t, 4> k = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
      const std::uint32_t next = std::rotl(a, 5) + f + e + k[i / 20] + w[i];
      e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  std::string hex;
  for (const std::uint32_t word : h) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", word);
    hex += digits.data();
  }
  return hex;
}

}  // namespace calpe::tests
