// SPDX-License-Identifier: Apache-2.0
// Converts bytes of shards to lanes and back: bit t of a word belongs to vector t.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace calpe::reram {

// Packets layout: bit t of a packet belongs to vector t. At most 8 bytes; missing ones are 0.
std::uint64_t load_lanes(std::span<const std::byte> bytes) noexcept;
void store_lanes(std::uint64_t lanes, std::span<std::byte> bytes) noexcept;

// Bytes layout: byte t is a symbol of vector t, its bit b belongs to plane b. At most 64 bytes.
using BytePlanes = std::array<std::uint64_t, 8>;
BytePlanes load_planes(std::span<const std::byte> bytes) noexcept;
void store_planes(const BytePlanes& planes, std::span<std::byte> bytes) noexcept;

}  // namespace calpe::reram
