// SPDX-License-Identifier: Apache-2.0
#include "engine/transform_work.hpp"

#include <algorithm>
#include <vector>

namespace calpe::engine {

namespace {

std::size_t distinct(std::vector<std::size_t> numbers) {
  std::ranges::sort(numbers);
  return static_cast<std::size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

// All layers of butterflies over N values, for so many cosets.
double layers_work(const ir::Transform& transform, std::size_t cosets) {
  return static_cast<double>(transform.log_size * transform.size() * cosets);
}

}  // namespace

double encode_work(const ir::Transform& transform) {
  const std::size_t chunks = std::ranges::max(transform.places) / transform.size();
  return 0.75 * layers_work(transform, chunks);  // place 0 is in no chunk
}

// The matrix at the end costs three products per value in addition to its own.
double finish_work(const ir::Transform& transform) {
  const std::size_t chunks = std::ranges::max(transform.places) / transform.size();
  const std::size_t products = (transform.outputs() + 3) * transform.values.size();
  return 1.5 * static_cast<double>(transform.places.size() + transform.outputs()) +
         0.6 * layers_work(transform, chunks + 1) + static_cast<double>(products);
}

double locator_work(const ir::Transform& transform) {
  const ir::Locator& locator = *transform.locator;
  std::vector<std::size_t> read, written;
  for (const std::uint16_t place : transform.places) {
    if (place >= transform.size()) read.push_back(place / transform.size());
  }
  for (const ir::Locator::Output& output : locator.outputs)
    written.push_back(output.place / transform.size());
  const bool is_scaled = !locator.scales.empty();
  const std::size_t turns = is_scaled && !read.empty() ? 2 : 1;  // forward and back, or only back
  return 3.0 * static_cast<double>(transform.places.size() + transform.outputs()) +
         0.5 * layers_work(transform, distinct(read) + turns + distinct(written)) +
         (is_scaled ? 2.0 * transform.size() : 0.0);
}

}  // namespace calpe::engine
