// SPDX-License-Identifier: Apache-2.0
#include "code/matrix_hash.hpp"

#define XXH_INLINE_ALL
#include <vector>
#include <xxhash.h>

namespace calpe::code {

std::uint64_t matrix_hash(const gf::Field& field, const gf::Matrix& parity) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(9 + 2 * parity.cells().size());
  const auto put = [&](std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  put(field.word_bits(), 1);
  put(field.polynomial(), 4);
  put(parity.rows(), 2);
  put(parity.columns(), 2);
  for (const gf::Element cell : parity.cells())
    put(cell, 2);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  return hash == 0 ? 1 : hash;
}

}  // namespace calpe::code
