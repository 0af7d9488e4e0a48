// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2. Must export nothing else: the linker keeps one copy of an inline function,
// and an AVX2 copy would then run on every CPU (kernel_symbols_test.py).
#include "store/format/checksum_avx2.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace calpe::store {

std::uint64_t checksum_avx2(const std::byte* bytes, std::size_t count) noexcept {
  return XXH3_64bits(bytes, count);
}

}  // namespace calpe::store
