// SPDX-License-Identifier: Apache-2.0
// Stored specs of a session.
#include <string>

#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

// The bytes of a codec's spec, changed or not, or any bytes: decoding gives the same spec, or an
// error, or a spec with exactly these bytes.
void Session::spec_bytes() {
  std::array<std::uint8_t, CALPE_SPEC_BYTES> stored = {};
  const auto& held = codecs_[input_.below(codecs_.size())];
  const calpe_spec any = held ? held->spec : any_spec();
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_spec_encode(&any, stored.data(), stored.size(), error);
  });
  require(!held || status == CALPE_OK, "the spec of a codec has bytes");
  auto changed = stored;
  for (unsigned changes = input_.below(4); changes > 0; --changes)
    changed[input_.below(changed.size())] = input_.byte();
  const std::size_t count =
      input_.below(8) == 7 ? input_.below(changed.size() + 1) : changed.size();
  calpe_spec decoded = CALPE_SPEC_INIT;
  const calpe_status read = checked({CALPE_ERROR_CORRUPT}, [&](calpe_error* error) {
    return calpe_spec_decode(changed.data(), count, &decoded, error);
  });
  if (changed == stored && count == stored.size() && status == CALPE_OK) {
    require(read == CALPE_OK && same_spec(decoded, any), "a spec is read as it was written");
  }
  if (read != CALPE_OK) return;
  require(decoded.family != CALPE_FAMILY_DEFAULT && decoded.matrix_hash != 0, "a resolved spec");
  auto again = stored;
  const calpe_status written = checked({}, [&](calpe_error* error) {
    return calpe_spec_encode(&decoded, again.data(), again.size(), error);
  });
  require(written == CALPE_OK && again == changed, "equal specs have equal bytes");
}

}  // namespace calpe::fuzz
