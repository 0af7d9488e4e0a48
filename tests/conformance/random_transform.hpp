// SPDX-License-Identifier: Apache-2.0
// Random transforms of every valid kind, beyond those that codes use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "code/lch.hpp"
#include "conformance/random_program.hpp"
#include "ir/transform.hpp"
#include "support/random_choice.hpp"

namespace calpe::conformance {

// Shuffled points of the code. They are valid too and follow no rule, so that using a wrong one
// shows.
inline const std::vector<gf::Element>& code_points() {
  static const std::vector<gf::Element> points = [] {
    const auto all = code::lch_form(*field_of(8), 1).points;
    return std::vector<gf::Element>(all.begin(), all.end());
  }();
  return points;
}

inline const std::vector<gf::Element>& lawless_points() {
  static const std::vector<gf::Element> points = [] {
    std::vector<gf::Element> shuffled = code_points();
    Random(1).shuffle(std::span(shuffled).subspan(1));  // the first is 0
    return shuffled;
  }();
  return points;
}

// Such points for every layer, all different.
inline const std::vector<gf::Element>& layered_points() {
  static const std::vector<gf::Element> points = [] {
    std::vector<gf::Element> all;
    for (unsigned layer = 0; layer < 8; ++layer) {
      std::vector<gf::Element> shuffled = code_points();
      Random(layer + 2).shuffle(std::span(shuffled).subspan(1));
      all.insert(all.end(), shuffled.begin(), shuffled.end());
    }
    return all;
  }();
  return points;
}

// Returns positions begin .. end-1; with gaps, about every other, always including the last.
inline std::vector<std::uint16_t> random_places(Random& random, std::size_t begin, std::size_t end,
                                                bool with_gaps) {
  std::vector<std::uint16_t> places;
  for (std::size_t place = begin; place < end; ++place) {
    if (with_gaps && place + 1 < end && random.coin()) continue;
    places.push_back(static_cast<std::uint16_t>(place));
  }
  return places;
}

struct TransformShape {
  unsigned log_size = 0;
  std::size_t data = 1;    // number of positions after N used by inputs
  std::size_t values = 1;  // values use positions below this
};

// Encoding: every position has an input, and every value is an output.
inline ir::Transform encoding(Random& random, const TransformShape& shape) {
  ir::Transform transform{.field = field_of(8),
                          .points = random.coin() ? code_points() : lawless_points(),
                          .log_size = shape.log_size};
  const std::size_t size = transform.size();
  transform.places = random_places(random, size, size + shape.data, false);
  transform.values = random_places(random, 0, shape.values, false);
  return transform;
}

// Outputs in a few cosets, in any order; scales are zero in places, or absent.
inline ir::Locator random_locator(Random& random, unsigned log_size) {
  const std::size_t size = std::size_t{1} << log_size;
  const auto element = [&] { return random.between<gf::Element>(1, 255); };
  ir::Locator locator;
  if (!random.one_in(4)) {
    for (std::size_t i = 0; i < size; ++i)
      locator.scales.push_back(random.one_in(4) ? gf::Element{0} : element());
  }
  const std::size_t first = random.below(256 / size) * size;
  const std::size_t end =
      std::min<std::size_t>(256, first + random.between<std::size_t>(1, 3 * size));
  for (const std::uint16_t place : random_places(random, first, end, random.coin()))
    locator.outputs.push_back(
        {.place = place, .factor = random.one_in(4) ? gf::Element{1} : element()});
  if (random.one_in(4)) random.shuffle(std::span(locator.outputs));
  return locator;
}

// Cosets with scales, some left out, and a matrix in addition; some outputs are only that.
inline void scale_cosets(Random& random, ir::Transform& transform) {
  ir::Locator& locator = *transform.locator;
  for (std::size_t i = 0; i < 256 / transform.size(); ++i)
    locator.coset_scales.push_back(static_cast<gf::Element>(random.below(random.coin() ? 3 : 256)));
  if (random.one_in(3)) return;
  for (ir::Locator::Output& output : locator.outputs) {
    if (random.one_in(4)) output.factor = 0;
  }
  locator.direct = random_matrix(random, *transform.field,
                                 {.rows = locator.outputs.size(),
                                  .columns = transform.places.size(),
                                  .zero_percent = random.coin() ? 90U : 30U});
}

inline ir::Transform random_transform(Random& random, unsigned log_size) {
  const std::size_t size = std::size_t{1} << log_size;
  const std::size_t room = 256 - size;
  const std::size_t usual = std::min(room, 3 * size + 3);
  ir::Transform transform =
      encoding(random, {.log_size = log_size,
                        .data = random.between<std::size_t>(1, random.one_in(4) ? room : usual),
                        .values = random.between<std::size_t>(1, size)});
  if (random.one_in(3)) {
    transform.places = random_places(random, size, transform.places.back() + std::size_t{1}, true);
  }
  if (random.one_in(3)) {  // also without inputs outside the first coset
    auto first = random_places(random, 0, random.between<std::size_t>(1, size), random.coin());
    if (!random.one_in(8)) {
      first.insert(first.end(), transform.places.begin(), transform.places.end());
    }
    transform.places = std::move(first);
  }
  if (random.one_in(4)) random.shuffle(std::span(transform.places));
  if (random.one_in(3)) {
    transform.values = random_places(random, 0, transform.values.back() + std::size_t{1}, true);
  }
  if (random.one_in(3)) {
    transform.values.clear();
    transform.locator = random_locator(random, log_size);
    if (random.coin()) transform.points = layered_points();
    if (!transform.locator->scales.empty()) return transform;
    if (random.coin()) {
      scale_cosets(random, transform);
    } else if (random.coin()) {
      transform.locator->interpolates = true;
      auto first = random_places(random, 0, random.between<std::size_t>(1, size), false);
      std::erase_if(transform.places, [&](std::uint16_t place) { return place < size; });
      if (random.coin()) transform.places.clear();
      transform.places.insert(transform.places.end(), first.begin(), first.end());
    }
  } else if (random.one_in(3)) {
    transform.finish = random_matrix(random, *transform.field,
                                     {.rows = random.between<std::size_t>(1, 24),
                                      .columns = transform.values.size(),
                                      .zero_percent = random.coin() ? 30U : 0U});
  }
  return transform;
}

}  // namespace calpe::conformance
