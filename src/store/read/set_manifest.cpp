// SPDX-License-Identifier: Apache-2.0
// Reads the manifest of a set from its content and parses it.
#include "base/allocation_guard.hpp"
#include "base/try.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::store {

Result<Manifest> SetReader::manifest() {
  return guarded([&]() -> Result<Manifest> {
    if (header().kind == SetKind::originals) return original_manifest();
    CALPE_CHECK(check_reachable(header().manifest_offset + header().manifest_bytes));
    CALPE_TRY(const std::vector<std::byte> bytes,
              read_manifest(header().manifest_bytes,
                            [&](std::span<std::byte> piece, std::uint64_t offset) {
                              return read_present(piece, header().manifest_offset + offset);
                            }));
    return parse_manifest(bytes, header().manifest_offset);
  });
}

}  // namespace calpe::store
