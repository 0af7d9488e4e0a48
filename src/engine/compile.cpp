// SPDX-License-Identifier: Apache-2.0
#include "engine/compile.hpp"

#include <optional>

#include "backend/techniques.hpp"
#include "base/try.hpp"
#include "engine/cauchy_transform.hpp"
#include "engine/lch_transform.hpp"
#include "engine/vandermonde_transform.hpp"
#include "engine/wide_transform.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/program.hpp"
#include "opt/for_kernel.hpp"

namespace calpe::engine {

namespace {

std::size_t rounds_of(Effort effort) {
  switch (effort) {
    case Effort::fast:
      return 1;
    case Effort::standard:
      return 8;
    case Effort::thorough:
      return 100;
  }
  return 1;
}

}  // namespace

Result<backend::KernelRef> compile(const code::Code& code, const plan::Recipe& recipe,
                                   backend::Device& device, Effort effort) {
  if (recipe.is_transform && backend::is_left_out("additive-fft")) {
    CALPE_TRY(const gf::Matrix rows, wide_matrix(code, recipe));
    return device.compile_matrix(code.field, rows);
  }
  if (recipe.is_transform) return device.compile_transform(wide_transform(code, recipe));
  if (code.is_wide()) return device.compile_matrix(code.field, recipe.coefficients);
  if (code.spec.layout == Layout::bytes) {
    if (const std::optional<ir::Transform> transform = lch_transform(code, recipe)) {
      return device.compile_transform(*transform);
    }
    if (const auto vandermonde = vandermonde_transform(code, recipe)) {
      return device.compile_transform(vandermonde->transform);
    }
    // Other devices have kernels for matrices only.
    if (device.cpu_kernels() != nullptr) {
      if (const auto cauchy = cauchy_transform(code, recipe)) {
        return device.compile_transform(cauchy->transform);
      }
    }
    return device.compile_matrix(code.field, recipe.coefficients);
  }
  // output r = sum of coefficients(r, c) * input c
  const ir::Program program = ir::lower_to_xor(ir::build(code.field, recipe.coefficients));
  CALPE_TRY(const ir::Program best,
            opt::for_kernel(program, {.model = device.cost_model(), .rounds = rounds_of(effort)}));
  return device.compile(best);
}

}  // namespace calpe::engine
