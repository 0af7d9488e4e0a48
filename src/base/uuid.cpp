// SPDX-License-Identifier: Apache-2.0
#include "base/uuid.hpp"

#include <cerrno>
#include <sys/random.h>

#include "base/assert.hpp"
#include "base/hex_digits.hpp"

namespace calpe {

std::string uuid_text(const Uuid& uuid) {
  std::string out = hex_digits(uuid);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    out.insert(at, 1, '-');
  }
  return out;
}

Uuid random_uuid() {
  Uuid uuid = {};
  ssize_t got = -1;
  do {
    got = getrandom(uuid.data(), uuid.size(), 0);
  } while (got < 0 && errno == EINTR);
  // Reads of up to 256 bytes are never short. A short read could give two sets the same UUID.
  CALPE_ASSERT(got == static_cast<ssize_t>(uuid.size()));
  // Version 4, variant 1.
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

}  // namespace calpe
