// SPDX-License-Identifier: Apache-2.0
#include "engine/lch_transform.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/lch_locator.hpp"
#include "engine/transform_work.hpp"
#include "plan/wide_rows.hpp"

namespace calpe::engine {

namespace {

bool is_ascending(std::span<const ShardIndex> shards) {
  return std::ranges::adjacent_find(shards, std::greater_equal{}) == shards.end();
}

}  // namespace

// With G the parity rows, the shards read give the values v = G * data + parity, where data not
// read counts as zero. So v = G * lost over the parities read, and the lost data is the inverse
// times v. The recipe already contains that inverse: it is the columns of the parities read, as
// these enter v once with coefficient 1. A parity that is written is its own value (that parity
// being zero in v) plus the contribution of the lost data.
std::optional<ir::Transform> lch_transform(const code::Code& code, const plan::Recipe& recipe) {
  const std::size_t k = code.data_shards();
  if (!code.lch || recipe.reads.empty() || recipe.writes.empty() || !is_ascending(recipe.reads)) {
    return std::nullopt;
  }
  ir::Transform transform{
      .field = code.field, .points = code.lch->points, .log_size = code.lch->log_size};
  const auto place = [&](ShardIndex shard) { return plan::lch_place(code, shard); };
  transform.places = plan::lch_places(code, recipe.reads);
  // Values ascend. The rows of the finish reorder the outputs to match the plan's writes.
  std::vector<ShardIndex> writes = recipe.writes;
  std::ranges::sort(writes);
  const auto parity_read = std::ranges::lower_bound(recipe.reads, k);
  const auto parity_written = std::ranges::lower_bound(writes, k);
  const bool encodes = plan::is_encode(code, recipe);
  if (encodes && writes == recipe.writes) {
    transform.values = plan::lch_places(code, recipe.writes);
  } else if (encodes || recipe.reads.size() == k) {
    std::merge(parity_read, recipe.reads.end(), parity_written, writes.end(),
               std::back_inserter(transform.values));
    std::ranges::transform(transform.values, transform.values.begin(), place);
    gf::Matrix& finish = transform.finish.emplace(recipe.writes.size(), transform.values.size());
    for (std::size_t i = 0; i < transform.values.size(); ++i) {
      const auto shard = static_cast<ShardIndex>(k + transform.values[i]);
      const auto read = std::find(parity_read, recipe.reads.end(), shard);
      for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
        finish(r, i) =
            read != recipe.reads.end()
                ? recipe.coefficients(r, static_cast<std::size_t>(read - recipe.reads.begin()))
                : static_cast<gf::Element>(recipe.writes[r] == shard);
      }
    }
  } else {
    return std::nullopt;
  }
  if (transform.log_size < 3) return std::nullopt;  // up to four rows, a matrix is as fast
  const auto cells = static_cast<double>(recipe.coefficients.cells().size());
  double work = transform.finish ? finish_work(transform) : encode_work(transform);
  if (transform.finish && recipe.reads.size() == k) {
    const std::vector<std::uint16_t> written = plan::lch_places(code, recipe.writes);
    // A locator that rebuilds one whole coset has no scales (or, for all parities in another order
    // than the code's, scales of zero: nothing is lost). Compared before it is made, because that
    // takes longer than the rest of the plan.
    const auto coset = [&](std::uint16_t to) { return to >> transform.log_size; };
    const auto is_in_first = [&](std::uint16_t to) { return coset(to) == coset(written[0]); };
    const bool is_scaled =
        written.size() != transform.size() || !std::ranges::all_of(written, is_in_first);
    const double less = locator_work(transform, written, is_scaled);
    if (less < std::min(work, cells)) {
      transform.values.clear();
      transform.finish.reset();
      transform.locator =
          lch_locator(transform, {.data_shards = k, .reads = transform.places, .writes = written});
      work = less;
    }
  }
  if (work >= cells) return std::nullopt;
  if (recipe.coefficients.cells().size() <= rows_cells_max) transform.rows = recipe.coefficients;
  return transform;
}

}  // namespace calpe::engine
