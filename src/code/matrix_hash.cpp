// SPDX-License-Identifier: Apache-2.0
#include "code/matrix_hash.hpp"

#define XXH_INLINE_ALL
#include <vector>
#include <xxhash.h>

namespace calpe::code {

std::uint64_t matrix_hash(const Code& code) {
  const std::span<const gf::Element> elements =
      code.is_wide() ? code.lch->points.first(lch_size(code.parity_shards()) + code.data_shards())
                     : code.parity.cells();
  std::vector<std::uint8_t> bytes;
  bytes.reserve(9 + 2 * elements.size());
  const auto put = [&](std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  put(code.field->word_bits(), 1);
  put(code.field->polynomial(), 4);
  put(code.parity_shards(), 2);
  put(code.data_shards(), 2);
  for (const gf::Element element : elements)
    put(element, 2);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  return hash == 0 ? 1 : hash;
}

}  // namespace calpe::code
