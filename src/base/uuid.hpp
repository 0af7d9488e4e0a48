// SPDX-License-Identifier: Apache-2.0
// Random (version 4) UUIDs of sets, arrays and members, and digests.
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
