// SPDX-License-Identifier: Apache-2.0
// The manifest of a set: content like any other, and then parsed.
#include "base/try.hpp"
#include "store/no_throw.hpp"
#include "store/set_reader.hpp"

namespace calpe::store {

Result<Manifest> SetReader::manifest() {
  return without_throwing([&]() -> Result<Manifest> {
    if (header().kind == SetKind::originals) return original_manifest();
    CALPE_CHECK(check_reachable(header().manifest_offset + header().manifest_bytes));
    std::vector<std::byte> bytes(header().manifest_bytes);
    CALPE_CHECK(read(bytes, header().manifest_offset));
    return parse_manifest(bytes, header().manifest_offset);
  });
}

}  // namespace calpe::store
