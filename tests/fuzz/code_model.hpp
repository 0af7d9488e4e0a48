// SPDX-License-Identifier: Apache-2.0
// The simplest implementation of the codes (docs/codes.md): symbol by symbol, products by shifting.
// Shares no code with the library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace calpe::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct CodeModel {
  unsigned data = 0;
  unsigned parity = 0;
  unsigned word_bits = 8;
  std::uint32_t polynomial = 0x11D;
  std::size_t packet_bytes = 0;  // 0: symbols are one byte, or two bytes if word_bits is 16
  std::vector<std::uint16_t> rows = {};
  unsigned losses = 0;  // any this many losses can be rebuilt

  unsigned shards() const { return data + parity; }
  bool has_packets() const { return packet_bytes != 0; }
  bool is_wide() const { return word_bits == 16; }
  unsigned units() const { return has_packets() ? word_bits : is_wide() ? 2 : 1; }
  std::size_t unit_bytes() const { return has_packets() ? packet_bytes : 64; }
  bool is_mds() const { return losses == parity; }
  std::size_t parity_bytes(std::size_t bytes) const {
    return (bytes + units() - 1) / units() * units();
  }
  std::size_t bytes_of(unsigned shard, std::size_t shard_bytes) const {
    return shard < data ? shard_bytes : parity_bytes(shard_bytes);
  }

  std::uint16_t multiply(unsigned a, unsigned b) const {
    if (is_wide()) return multiply_pairs(a, b);
    return multiply_bits(a, b, word_bits);
  }

 private:
  std::uint16_t multiply_bits(unsigned a, unsigned b, unsigned bits) const {
    unsigned product = 0;
    for (; b != 0; b >>= 1U) {
      if ((b & 1U) != 0) product ^= a;
      a <<= 1U;
      if ((a >> bits) != 0) a ^= polynomial;
    }
    return static_cast<std::uint16_t>(product);
  }
  // (a + b u)(c + d u) with u^2 = u + e6.
  std::uint16_t multiply_pairs(unsigned x, unsigned y) const {
    const auto product = [this](unsigned a, unsigned b) {
      return unsigned{multiply_bits(a & 255U, b & 255U, 8)};
    };
    const unsigned squares = product(x >> 8U, y >> 8U);
    const unsigned low = product(x, y) ^ product(squares, 0xE6);
    const unsigned high = product(x, y >> 8U) ^ product(x >> 8U, y) ^ squares;
    return static_cast<std::uint16_t>(low | high << 8U);
  }
};

// Groups of units: w packets, or low and high bytes. The last group has shorter ones, and missing
// bytes of a data shard count as zeros. Bytes: one group, whose only unit is the shard.
template <class Visit>
void each_group(const CodeModel& code, std::size_t shard_bytes, const Visit& visit) {
  const std::size_t units = code.units();
  if (units == 1) return visit(std::size_t{0}, shard_bytes);
  const std::size_t all = code.parity_bytes(shard_bytes);
  const std::size_t group = units * code.unit_bytes();
  for (std::size_t at = 0; at < all;) {
    const bool is_whole = shard_bytes - at >= group;
    const std::size_t unit = is_whole ? code.unit_bytes() : (shard_bytes - at + units - 1) / units;
    visit(at, unit);
    at += unit * units;
  }
}

// outputs[r] += sum of cells[r][c] * inputs[c]. Outputs must have their right lengths.
inline void apply(const CodeModel& code, std::span<const std::uint16_t> cells,
                  std::span<const Bytes* const> inputs, std::span<Bytes> outputs,
                  std::size_t shard_bytes) {
  const unsigned units = code.units();
  const unsigned unit_bits = code.has_packets() ? 1 : 8;
  const unsigned lanes = code.has_packets() ? 8 : 1;  // symbols per column of bytes
  const auto symbol = [&](const Bytes& from, std::size_t at, std::size_t packet, unsigned lane) {
    if (units == 1) return unsigned{from[at]};
    unsigned value = 0;
    for (unsigned unit = 0; unit < units; ++unit) {
      const std::size_t place = at + unit * packet;
      if (place >= from.size()) continue;
      value |= (code.has_packets() ? from[place] >> lane & 1U : from[place]) << unit * unit_bits;
    }
    return value;
  };
  each_group(code, shard_bytes, [&](std::size_t offset, std::size_t packet) {
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      for (std::size_t column = 0; column < packet; ++column) {
        for (unsigned lane = 0; lane < lanes; ++lane) {
          unsigned sum = 0;
          for (std::size_t c = 0; c < inputs.size(); ++c)
            sum ^= code.multiply(symbol(*inputs[c], offset + column, packet, lane),
                                 cells[r * inputs.size() + c]);
          for (unsigned unit = 0; unit < units; ++unit) {
            const std::size_t place = offset + column + unit * packet;
            const unsigned bits =
                code.has_packets() ? (sum >> unit & 1U) << lane : sum >> unit * unit_bits;
            if (place < outputs[r].size()) outputs[r][place] ^= static_cast<std::uint8_t>(bits);
          }
        }
      }
    }
  });
}

// Returns the parity of the first `data` shards.
inline std::vector<Bytes> encoded(const CodeModel& code, std::span<const Bytes> shards,
                                  std::size_t shard_bytes) {
  std::vector<const Bytes*> inputs;
  for (unsigned i = 0; i < code.data; ++i)
    inputs.push_back(&shards[i]);
  std::vector<Bytes> parity(code.parity, Bytes(code.parity_bytes(shard_bytes)));
  apply(code, code.rows, inputs, parity, shard_bytes);
  return parity;
}

}  // namespace calpe::fuzz
