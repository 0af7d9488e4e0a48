// SPDX-License-Identifier: Apache-2.0
#include "store/format/block_checksum.hpp"

#include <array>

#if CALPE_HAS_CHECKSUM_AVX2
#include "store/format/checksum_avx2.hpp"
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little_endian.hpp"

namespace calpe::store {

std::uint64_t block_mask(const BlockName& name) noexcept {
  std::array<std::byte, 40> bytes = {};
  store_little(bytes.data(), name.uuid);
  store_little(bytes.data() + 16, name.generation);
  store_little(bytes.data() + 24, name.stripe);
  store_little(bytes.data() + 32, name.shard);
  return plain_checksum(bytes);
}

std::uint64_t block_checksum(const BlockName& name, std::span<const std::byte> block) noexcept {
  return plain_checksum(block) ^ block_mask(name);
}

std::uint64_t renamed_checksum(std::uint64_t checksum, const BlockName& before,
                               const BlockName& after) noexcept {
  return checksum ^ block_mask(before) ^ block_mask(after);
}

std::uint64_t plain_checksum(std::span<const std::byte> bytes) noexcept {
#if CALPE_HAS_CHECKSUM_AVX2
  static const bool has_avx2 = [] {
    __builtin_cpu_init();  // static initialisers of other files may compute checksums
    return __builtin_cpu_supports("avx2") != 0;
  }();
  if (has_avx2) return checksum_avx2(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace calpe::store
