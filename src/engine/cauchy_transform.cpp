// SPDX-License-Identifier: Apache-2.0
#include "engine/cauchy_transform.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "engine/transform_work.hpp"

namespace calpe::engine {

namespace {

using gf::Element;

constexpr unsigned log_size_min = 3;
constexpr unsigned log_size_max = 7;

// The product of position + v over v = 0 .. size-1, without 0.
Element product_over(const gf::Field& field, std::size_t position, std::size_t size) {
  Element product = 1;
  for (std::size_t v = 0; v < size; ++v) {
    if (position != v) product = field.multiply(product, static_cast<Element>(position ^ v));
  }
  return product;
}

// s' / s(y) for the cosets of N elements; the first is left out.
std::vector<Element> coset_scales(const gf::Field& field, std::size_t size) {
  const Element derivative = product_over(field, 0, size);
  std::vector<Element> scales = {0};
  for (std::size_t base = size; base < field.size(); base += size)
    scales.push_back(field.divide(derivative, product_over(field, base, size)));
  return scales;
}

// The work of products outside of the transform. Those for written outputs also add to them. Inputs
// are scaled, and read once more for the row of ones; a table of their pointers is written.
double direct_work(const ir::Transform& transform, std::size_t written) {
  const auto inside = static_cast<double>(std::ranges::count_if(
      transform.places, [&](auto place) { return place < transform.size(); }));
  const std::size_t others = transform.outputs() - written;
  return static_cast<double>(written) * (inside > 0 ? inside + 3 : 0) +
         3.0 * static_cast<double>(transform.places.size()) +
         0.5 * static_cast<double>(others * transform.places.size());
}

}  // namespace

std::optional<NaturalTransform> cauchy_transform(const code::Code& code,
                                                 const plan::Recipe& recipe) {
  const CodeFamily family = code.spec.family;
  if ((family != CodeFamily::cauchy && family != CodeFamily::hybrid) ||
      code.field->word_bits() != 8 ||
      recipe.writes.size() <= std::size_t{1} << (log_size_min - 1) ||
      std::ranges::adjacent_find(recipe.reads, std::greater_equal{}) != recipe.reads.end() ||
      recipe.reads.empty() || !plan::is_encode(code, recipe)) {
    return std::nullopt;
  }
  // The row of ones has no position.
  const auto is_placed = [&](ShardIndex shard) {
    return family == CodeFamily::cauchy || shard != code.data_shards();
  };
  std::vector<std::uint16_t> written;
  std::ranges::copy_if(recipe.writes, std::back_inserter(written), is_placed);
  const auto [first, last] = std::ranges::minmax(written);
  NaturalTransform result;
  ir::Transform& transform = result.transform;
  transform.field = code.field;
  transform.log_size = std::max(
      log_size_min, static_cast<unsigned>(std::bit_width(static_cast<unsigned>(first ^ last))));
  if (transform.log_size > log_size_max) return std::nullopt;
  // Moves parity to the first coset.
  const std::size_t shift = first & ~(std::size_t{transform.size()} - 1);
  const auto place = [&](ShardIndex shard) { return static_cast<std::uint16_t>(shard ^ shift); };
  std::ranges::transform(recipe.reads, std::back_inserter(transform.places), place);
  std::ranges::transform(written, written.begin(), place);
  ir::Locator& locator = transform.locator.emplace();
  gf::Matrix direct = recipe.coefficients;
  for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
    const bool is_transformed = is_placed(recipe.writes[r]);
    locator.outputs.push_back(
        {.place = place(recipe.writes[r]), .factor = static_cast<Element>(is_transformed)});
    for (std::size_t i = 0; is_transformed && i < transform.places.size(); ++i) {
      if (transform.places[i] >= transform.size()) direct(r, i) = 0;
    }
  }
  const std::size_t cosets = code.field->size() / transform.size() - 1;
  const double work = locator_work(transform, written, false) +
                      static_cast<double>(transform.size() * cosets) +
                      direct_work(transform, written.size());
  const std::size_t cells = recipe.coefficients.cells().size();
  if (work >= static_cast<double>(cells)) return std::nullopt;
  locator.direct = std::move(direct);
  locator.coset_scales = coset_scales(*code.field, transform.size());
  if (cells <= rows_cells_max) transform.rows = recipe.coefficients;
  result.points = natural_points(*code.field, transform.log_size);
  transform.points = result.points;
  return result;
}

}  // namespace calpe::engine
