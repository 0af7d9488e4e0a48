// SPDX-License-Identifier: Apache-2.0
// Gives forged structures of array members valid checksums (docs/array-format.md). Otherwise a
// fuzzer would never get past them.
#pragma once
#include <span>

#include "array/format/log_format.hpp"
#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::fuzz {

inline constexpr std::size_t array_block = array::block_bytes;

inline void put_right_superblock(std::span<std::byte> block) {
  const std::uint64_t checksum = store::plain_checksum(block.first(array_block - 8));
  store_little(block.data() + array_block - 8, checksum);
}

// `bytes` is a whole header of the array's log.
inline void put_right_log_header(std::span<std::byte> bytes, const Uuid& array) {
  const auto generation = load_little<std::uint64_t>(bytes.data() + 16);
  const std::uint64_t checksum =
      store::plain_checksum(bytes.subspan(16)) ^
      store::block_mask(
          {.uuid = array, .generation = generation, .stripe = bytes.size(), .shard = 0});
  store_little(bytes.data() + 8, checksum);
}

}  // namespace calpe::fuzz
