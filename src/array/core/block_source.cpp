// SPDX-License-Identifier: Apache-2.0
#include "array/core/block_source.hpp"

#include <cstring>

namespace calpe::array {

BlockSource::BlockSource(SharedState& shared)
    : layout_(shared.layout),
      check_(shared.check),
      table_(shared.table),
      overlay_(shared.overlay) {}

Overlay::Block BlockSource::find(const StripeAt& at, std::uint32_t column, unsigned role,
                                 std::byte* to) {
  if (const auto newer = overlay_.find(at.stripe, column, role, to)) return *newer;
  std::uint64_t check = unknown_check;
  table_.get(role, layout_.table_index(at.slot, column), std::span(&check, 1));
  const BlockPlace place{role, at.stripe, at.slot, column};
  if (check == check_.of_zeros(place)) {
    std::memset(to, 0, block_bytes);
    return {.is_copied = true, .check = check};
  }
  return {.is_copied = false, .check = check};
}

}  // namespace calpe::array
