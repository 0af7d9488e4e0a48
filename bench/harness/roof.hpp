// SPDX-License-Identifier: Apache-2.0
// The roof, called "memory limit" in output: the memory traffic of an erasure coder without its
// arithmetic.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace calpe::bench {

enum class RoofStores {
  plain,
  non_temporal,  // bypasses the caches; outputs must be aligned to 64 bytes
};

// XORs the sources and stores the result to every output. Without sources it only writes, without
// outputs it only reads. bytes must be a multiple of roof_bytes_multiple. Every matrix coder reads
// and writes at least this much, so its rate bounds theirs where memory is the bottleneck.
using RoofKernel = void (*)(std::span<const std::byte* const> sources,
                            std::span<std::byte* const> outputs, std::size_t bytes);

inline constexpr std::size_t roof_bytes_multiple = 1024;

// Uses the widest vectors of this CPU. Number and length of the sources decide how much of each is
// read before the next.
RoofKernel roof_kernel(RoofStores stores, std::size_t source_count, std::size_t bytes) noexcept;

// "AVX-512", "AVX2" or "portable".
std::string_view roof_instructions() noexcept;

}  // namespace calpe::bench
