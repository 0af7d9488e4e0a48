// SPDX-License-Identifier: Apache-2.0
// `protect --redundancy`: a code for files that stay in place, from the size of the parity.
#pragma once
#include <cstdint>
#include <string>

#include <calpe/result.hpp>

namespace calpe::tools {

// The data is divided into 100 parts, so that a parity file has 1 % of it.
constexpr unsigned redundancy_parts = 100;

// Parity shards for "10%" or "10". Fails with invalid_argument.
Result<unsigned> parity_for_redundancy(const std::string& percent);

// Block size for damage in many places, which should be spread over many stripes.
std::uint32_t scattered_block_bytes(std::uint64_t data_bytes) noexcept;

}  // namespace calpe::tools
