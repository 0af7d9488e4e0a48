// SPDX-License-Identifier: Apache-2.0
// The packetiser's work: bytes of shards as lanes, bit t of a word belonging to vector t, and back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace calpe::sim {

// Packets: bit t of a packet belongs to vector t. At most 8 bytes; what is missing is 0.
std::uint64_t load_lanes(std::span<const std::byte> bytes) noexcept;
void store_lanes(std::uint64_t lanes, std::span<std::byte> bytes) noexcept;

// Bytes that are symbols of 8 bits: byte t belongs to vector t, its bit b to plane b. At most 64.
using BytePlanes = std::array<std::uint64_t, 8>;
BytePlanes load_planes(std::span<const std::byte> bytes) noexcept;
void store_planes(const BytePlanes& planes, std::span<std::byte> bytes) noexcept;

}  // namespace calpe::sim
