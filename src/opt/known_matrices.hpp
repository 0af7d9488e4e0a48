// SPDX-License-Identifier: Apache-2.0
// The best matrices found by searches, for common shapes.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "opt/found_matrix.hpp"

namespace calpe::opt {

// One line each, as print() writes it. Not part of any format: a line may be replaced by a better
// one.
std::span<const std::string_view> known_matrix_lines();

// Returns the matrix for exactly this field and shape.
std::optional<FoundMatrix> known_matrix(const gf::Field& field, std::uint32_t data,
                                        std::uint32_t parity);

}  // namespace calpe::opt
