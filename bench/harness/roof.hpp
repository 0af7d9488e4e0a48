// SPDX-License-Identifier: Apache-2.0
// The roof: the traffic of an erasure coder without its arithmetic.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace calpe::bench {

enum class RoofStores {
  plain,
  non_temporal,  // past the caches; outputs must be aligned to 64 bytes
};

// XORs the sources and stores the result to every output; either list may be empty, which leaves a
// plain writer or a plain reader. bytes must be a multiple of roof_bytes_multiple.
// Every matrix coder reads and writes at least this, so its speed bounds theirs where memory does.
using RoofKernel = void (*)(std::span<const std::byte* const> sources,
                            std::span<std::byte* const> outputs, std::size_t bytes);

inline constexpr std::size_t roof_bytes_multiple = 1024;

// The widest instructions this CPU has; count and length of the sources choose how far each one is
// read before the next.
RoofKernel roof_kernel(RoofStores stores, std::size_t source_count, std::size_t bytes) noexcept;

// "AVX-512", "AVX2" or "portable".
std::string_view roof_instructions() noexcept;

}  // namespace calpe::bench
