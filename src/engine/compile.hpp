// SPDX-License-Identifier: Apache-2.0
// Where the two halves meet: coefficients in, kernel out. Nothing after this knows any code.
#pragma once
#include <calpe/code_spec.hpp>

#include "backend/backend.hpp"
#include "gf/matrix.hpp"

namespace calpe::engine {

Result<backend::KernelRef> compile(const gf::FieldRef& field, const gf::Matrix& rows, Layout layout,
                                   backend::Device& device);

}  // namespace calpe::engine
