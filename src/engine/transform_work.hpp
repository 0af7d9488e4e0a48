// SPDX-License-Identifier: Apache-2.0
// The work of a transform, in products of a matrix per column, including additions. Measured on
// AVX-512 with GFNI (docs/performance.md).
#pragma once
#include "ir/transform.hpp"

namespace calpe::engine {

double encode_work(const ir::Transform& transform);   // without finish and locator
double finish_work(const ir::Transform& transform);   // requires a finish
double locator_work(const ir::Transform& transform);  // requires a locator

}  // namespace calpe::engine
