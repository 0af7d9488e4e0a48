// SPDX-License-Identifier: Apache-2.0
// Push constants of the device kernels in SPIR-V, 64 bits each, in the order of device_kernel.hpp.
#pragma once
#include <cstdint>

namespace calpe::emit::spirv_argument {

inline constexpr std::uint32_t n_base = 0;
inline constexpr std::uint32_t r_base = 1;
inline constexpr std::uint32_t shards = 2;
inline constexpr std::uint32_t first = 3;
inline constexpr std::uint32_t column_bytes = 4;
inline constexpr std::uint32_t unit_stride = 5;
inline constexpr std::uint32_t group_stride = 6;
inline constexpr std::uint32_t count_of_kernels = 7;
// Table kernels only.
inline constexpr std::uint32_t bits = 7;
inline constexpr std::uint32_t row_groups = 8;
inline constexpr std::uint32_t input_shards = 9;
inline constexpr std::uint32_t output_shards = 10;
inline constexpr std::uint32_t unit_count = 11;
inline constexpr std::uint32_t accumulate = 12;
inline constexpr std::uint32_t count_of_tables = 13;

}  // namespace calpe::emit::spirv_argument
