// SPDX-License-Identifier: Apache-2.0
#include "store/format/key.hpp"

#include <openssl/crypto.h>

namespace calpe::store {

Key::~Key() {
  wipe(bytes_);
}

void wipe(std::span<std::byte> bytes) noexcept {
  OPENSSL_cleanse(bytes.data(), bytes.size());
}

}  // namespace calpe::store
