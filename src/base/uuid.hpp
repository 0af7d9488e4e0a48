// SPDX-License-Identifier: Apache-2.0
// Names of sets, arrays and members: random, as everybody's version 4. And digests beside them.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace calpe {

using Uuid = std::array<std::byte, 16>;
using Digest = std::array<std::byte, 32>;

Uuid random_uuid();
std::string uuid_text(const Uuid& uuid);  // 8-4-4-4-12 digits

}  // namespace calpe
