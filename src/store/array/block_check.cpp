// SPDX-License-Identifier: Apache-2.0
#include "store/array/block_check.hpp"

#include <array>

#include "store/array/types.hpp"

namespace calpe::store::array {

BlockCheck::BlockCheck(const Uuid& array) : array_(array), zeros_(0) {
  const std::array<std::byte, block_bytes> zeros = {};
  zeros_ = plain_checksum(zeros);
}

}  // namespace calpe::store::array
