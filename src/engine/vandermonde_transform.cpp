// SPDX-License-Identifier: Apache-2.0
#include "engine/vandermonde_transform.hpp"

#include <algorithm>
#include <bit>

#include "engine/transform_work.hpp"

namespace calpe::engine {

namespace {

constexpr unsigned log_size_max = 7;

// True if the reads are k shards from a multiple of 2^log_size on; if that is not 0, all of its
// coset.
bool are_aligned(std::span<const ShardIndex> reads, std::size_t size) {
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] != reads[0] + i) return false;
  }
  return reads[0] == 0 || (reads[0] % size == 0 && reads.size() == size);
}

// True if a transform of data to parity is one pass.
bool goes_through(const plan::Recipe& recipe, const ir::Transform& transform) {
  const auto is_next = [&](ShardIndex shard) { return shard >> transform.log_size == 1; };
  return recipe.reads[0] == 0 && recipe.reads.size() == transform.size() &&
         transform.log_size <= through_log_max && std::ranges::all_of(recipe.writes, is_next);
}

// The same from one half of a coset and a few more.
bool goes_through_with_tail(const plan::Recipe& recipe, const ir::Transform& transform) {
  const std::size_t half = transform.size() / 2;
  const std::size_t tail = recipe.reads.size() - half;
  const auto is_left = [&](ShardIndex shard) { return shard < transform.size(); };
  return recipe.reads[0] == 0 && transform.log_size == through_tail_log + 1 &&
         (tail == 4 || tail == 8) && std::ranges::all_of(recipe.writes, is_left);
}

}  // namespace

std::optional<NaturalTransform> vandermonde_transform(const code::Code& code,
                                                      const plan::Recipe& recipe) {
  const std::size_t k = code.data_shards();
  const auto log_size = static_cast<unsigned>(std::countr_zero(std::bit_ceil(k)));
  if (code.spec.family != CodeFamily::vandermonde || code.field->word_bits() != 8 ||
      recipe.reads.size() != k || recipe.writes.empty() || log_size < 3 ||
      log_size > log_size_max || !are_aligned(recipe.reads, std::bit_ceil(k))) {
    return std::nullopt;
  }
  NaturalTransform result;
  ir::Transform& transform = result.transform;
  transform.field = code.field;
  transform.log_size = log_size;
  for (const ShardIndex shard : recipe.reads)
    transform.places.push_back(static_cast<std::uint16_t>(shard));
  ir::Locator& locator = transform.locator.emplace();
  locator.interpolates = recipe.reads[0] == 0;
  for (const ShardIndex shard : recipe.writes)
    locator.outputs.push_back({.place = static_cast<std::uint16_t>(shard)});
  const std::size_t cells = recipe.coefficients.cells().size();
  const double work = goes_through(recipe, transform) ? through_work(transform)
                      : goes_through_with_tail(recipe, transform)
                          ? through_tail_work(transform)
                          : locator_work(transform, recipe.writes, false) + interpolation_work(k);
  if (work >= static_cast<double>(cells)) return std::nullopt;
  if (cells <= rows_cells_max) transform.rows = recipe.coefficients;
  result.points = natural_points(*code.field, log_size);
  transform.points = result.points;
  return result;
}

}  // namespace calpe::engine
