// SPDX-License-Identifier: Apache-2.0
#include "array/format/block_check.hpp"

#include <array>

#include "array/format/types.hpp"

namespace calpe::array {

BlockCheck::BlockCheck(const Uuid& array) : array_(array), zeros_(0) {
  const std::array<std::byte, block_bytes> zeros = {};
  zeros_ = store::plain_checksum(zeros);
}

}  // namespace calpe::array
