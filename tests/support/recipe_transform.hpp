// SPDX-License-Identifier: Apache-2.0
// Compares a transform with the plan that it stands for, coefficient by coefficient.
#pragma once
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>

#include "code/code.hpp"
#include "ir/transform.hpp"
#include "ir/verify.hpp"
#include "plan/recipe.hpp"

namespace calpe::tests {

inline code::Code code_of(CodeFamily family, std::size_t data, std::size_t parity) {
  CodeSpec spec;
  spec.family = family;
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return *code::make_code(spec);
}

inline testing::AssertionResult computes(const ir::Transform& transform, const code::Code& code,
                                         const plan::Recipe& recipe) {
  const Status same = ir::verify_map(ir::expand(transform), recipe.coefficients);
  if (same) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << same.error().message << ": " << code.data_shards() << "+" << code.parity_shards();
}

}  // namespace calpe::tests
