// SPDX-License-Identifier: Apache-2.0
#include "engine/wide_transform.hpp"

#include <algorithm>

#include "engine/lch_locator.hpp"
#include "plan/wide_rows.hpp"

namespace calpe::engine {

ir::Transform wide_transform(const code::Code& code, const plan::Recipe& recipe) {
  ir::Transform transform{
      .field = code.field, .points = code.lch->points, .log_size = code.lch->log_size};
  transform.places = plan::wide_places(code, recipe.reads);
  std::vector<std::uint16_t> writes = plan::wide_places(code, recipe.writes);
  // The data shards are a basis only together, and ascend.
  const bool encodes = recipe.basis.back() == code.data_shards() - 1;
  if (encodes && std::ranges::is_sorted(writes)) {
    transform.values = std::move(writes);
  } else {
    transform.locator = lch_locator(transform, {.data_shards = code.data_shards(),
                                                .reads = plan::wide_places(code, recipe.basis),
                                                .writes = writes});
  }
  return transform;
}

}  // namespace calpe::engine
