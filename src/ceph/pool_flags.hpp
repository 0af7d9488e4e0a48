// SPDX-License-Identifier: Apache-2.0
// Finds out from an OSD map whether a pool has allow_ec_optimizations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace calpe::ceph {

// The flag ec_optimizations of Ceph 20, which cannot be removed from a pool.
constexpr std::uint64_t pool_flag_optimised = std::uint64_t{1} << 19U;

// Reads the flags of a pool from the metadata section of an export, which contains the OSD map.
// Returns nullopt if there is no such map or pool.
std::optional<std::uint64_t> pool_flags(std::span<const std::byte> metadata, std::uint64_t pool);

}  // namespace calpe::ceph
