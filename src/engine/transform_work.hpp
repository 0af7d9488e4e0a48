// SPDX-License-Identifier: Apache-2.0
// The work of a transform, in products of a matrix per column, including additions. Measured on
// AVX-512 with GFNI (docs/performance.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/transform.hpp"

namespace calpe::engine {

double encode_work(const ir::Transform& transform);  // without finish and locator
double finish_work(const ir::Transform& transform);  // requires a finish
// With a locator that writes these places; it need not be made yet.
double locator_work(const ir::Transform& transform, std::span<const std::uint16_t> written,
                    bool is_scaled);
// Interpolating `count` values, in addition to that of a whole coset.
double interpolation_work(std::size_t count);
// From all values of one coset to another, in one pass. Requires log_size <= through_log_max.
inline constexpr unsigned through_log_max = 5;
double through_work(const ir::Transform& transform);
// The same from the lower half of a coset and a few more values to the rest of it, in one pass of
// through_tail_log layers. Those values are 4 or 8.
inline constexpr unsigned through_tail_log = 4;
double through_tail_work(const ir::Transform& transform);
// A transform also keeps matrices of up to this many coefficients, for short shards. Larger ones
// never code these faster, and copying them would slow down the plan.
inline constexpr std::size_t rows_cells_max = 1024;

}  // namespace calpe::engine
