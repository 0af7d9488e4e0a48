// SPDX-License-Identifier: Apache-2.0
// Splits the range of a call into the parts that lie in one stripe each.
#pragma once
#include <algorithm>
#include <cstdint>

#include "array/format/layout.hpp"
#include "base/text.hpp"

namespace calpe::array {

// Bytes [begin, begin + bytes) of the data of one stripe.
struct StripePart {
  std::uint64_t stripe = 0;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// The part in the first stripe of `length` bytes of the array from `offset` on.
inline StripePart first_part(const MemberLayout& layout, std::uint64_t offset,
                             std::uint64_t length) noexcept {
  StripePart part;
  part.stripe = offset / layout.stripe_bytes();
  part.begin = offset % layout.stripe_bytes();
  part.bytes = std::min(length, layout.stripe_bytes() - part.begin);
  return part;
}

// Fails with invalid_argument if the range is not within the array.
inline Status check_range(const Settings& settings, std::uint64_t offset, std::uint64_t length) {
  if (offset <= settings.bytes && length <= settings.bytes - offset) return Done{};
  return make_error(ErrorCode::invalid_argument, "offset ", offset, " + ", length,
                    " bytes is past the end of the array, which has ", settings.bytes, " bytes");
}

}  // namespace calpe::array
