// SPDX-License-Identifier: Apache-2.0
// Compiles a code's recipe into a kernel. Later stages know nothing about codes.
#pragma once
#include <calpe/codec.hpp>

#include "backend/backend.hpp"
#include "code/code.hpp"
#include "plan/recipe.hpp"

namespace calpe::engine {

Result<backend::KernelRef> compile(const code::Code& code, const plan::Recipe& recipe,
                                   backend::Device& device, Effort effort);

}  // namespace calpe::engine
