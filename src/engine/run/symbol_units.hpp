// SPDX-License-Identifier: Apache-2.0
// How a symbol is spread over a shard. A flat layout has one symbol per byte. Otherwise a shard
// consists of groups of units of equal length, and a symbol takes a byte, or with packets a bit, of
// each unit: w packets of packet_bytes; or over GF(2^16) its low and its high byte, 64 bytes apart.
#pragma once
#include <cstddef>

#include <calpe/code_spec.hpp>

namespace calpe::engine {

inline constexpr std::size_t wide_unit_bytes = 64;

inline bool is_wide(const CodeSpec& spec) noexcept {
  return spec.word_bits == 16;
}

inline bool is_flat(const CodeSpec& spec) noexcept {
  return spec.layout == Layout::bytes && !is_wide(spec);
}

inline std::size_t unit_count(const CodeSpec& spec) noexcept {
  if (spec.layout == Layout::packets) return spec.word_bits;
  return is_wide(spec) ? 2 : 1;
}

// Bytes of a unit; not for a flat layout.
inline std::size_t unit_bytes(const CodeSpec& spec) noexcept {
  return spec.layout == Layout::packets ? spec.packet_bytes : wide_unit_bytes;
}

}  // namespace calpe::engine
