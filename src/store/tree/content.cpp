// SPDX-License-Identifier: Apache-2.0
#include "store/tree/content.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

Status ContentSource::skip(std::uint64_t bytes) {
  std::vector<std::byte> piece(std::size_t{1} << 20U);
  while (bytes > 0) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece.size()));
    CALPE_TRY(const std::size_t got, read(std::span(piece).first(wanted)));
    if (got < wanted) {
      return make_error(ErrorCode::io, "cannot resume: the source is ", bytes - got,
                        " bytes shorter than the checkpoint");
    }
    bytes -= got;
  }
  return Done{};
}

}  // namespace calpe::store
