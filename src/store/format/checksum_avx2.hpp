// SPDX-License-Identifier: Apache-2.0
// XXH3 in vectors of 32 bytes, for CPUs that have AVX2: twice as fast as for those of 2003.
#pragma once
#include <cstddef>
#include <cstdint>

namespace calpe::store {

std::uint64_t checksum_avx2(const std::byte* bytes, std::size_t count) noexcept;

}  // namespace calpe::store
