// SPDX-License-Identifier: Apache-2.0
#include "engine/wide_transform.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "engine/lch_locator.hpp"
#include "plan/wide_rows.hpp"

namespace calpe::engine {

ir::Transform wide_transform(const code::Code& code, const plan::Recipe& recipe) {
  ir::Transform transform{
      .field = code.field, .points = code.lch->points, .log_size = code.lch->log_size};
  transform.places = plan::lch_places(code, recipe.reads);
  std::vector<std::uint16_t> writes = plan::lch_places(code, recipe.writes);
  // The data shards are a basis only together, and ascend.
  const bool encodes = recipe.basis.back() == code.data_shards() - 1;
  if (encodes && std::ranges::is_sorted(writes)) {
    transform.values = std::move(writes);
  } else {
    transform.locator = lch_locator(transform, {.data_shards = code.data_shards(),
                                                .reads = plan::lch_places(code, recipe.basis),
                                                .writes = writes});
  }
  return transform;
}

Result<gf::Matrix> wide_matrix(const code::Code& code, const plan::Recipe& recipe) {
  const std::size_t cells = recipe.reads.size() * recipe.writes.size();
  if (cells > plan::wide_cells_max) {
    return make_error(ErrorCode::backend_unavailable, "writing ", recipe.writes.size(),
                      " shards from ", recipe.reads.size(), " takes ", cells,
                      " coefficients; expected at most ", plan::wide_cells_max,
                      ", as this build leaves out additive-fft");
  }
  if (recipe.coefficients.rows() > 0) return recipe.coefficients;
  return plan::wide_rows(code, recipe.basis, recipe.reads, recipe.writes);
}

}  // namespace calpe::engine
