// SPDX-License-Identifier: Apache-2.0
#include "engine/transform_work.hpp"

#include <algorithm>
#include <bit>
#include <bitset>

namespace calpe::engine {

namespace {

using Cosets = std::bitset<256>;  // one per N positions of GF(2^8)

// All layers of butterflies over N values, for a number of cosets.
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

double locator_work(const ir::Transform& transform, std::span<const std::uint16_t> written,
                    bool is_scaled) {
  Cosets read;
  Cosets to;
  for (const std::uint16_t place : transform.places)
    read.set(place >> transform.log_size);
  for (const std::uint16_t place : written)
    to.set(place >> transform.log_size);
  read.reset(0);
  const std::size_t turns = is_scaled && read.any() ? 2 : 1;  // forward and back, or only back
  return 3.0 * static_cast<double>(transform.places.size() + written.size()) +
         0.5 * layers_work(transform, read.count() + turns + to.count()) +
         (is_scaled ? 2.0 * transform.size() : 0.0);
}

// Every power of two in `count` is transformed forward to the values after it. Twice the work of
// other layers: each part waits for the one before, and all are short. Measured: 120+20 and 60+20
// are faster by rows, 40+20 and 48+24 by transforms.
double interpolation_work(std::size_t count) {
  double work = 0;
  while (!std::has_single_bit(count)) {
    const std::size_t half = std::bit_floor(count);
    count -= half;
    work += static_cast<double>(half * std::bit_width(half - 1)) + 6.0 * static_cast<double>(count);
  }
  return work;
}

double through_work(const ir::Transform& transform) {
  return 3.0 * transform.size() + layers_work(transform, 1);
}

double through_tail_work(const ir::Transform& transform) {
  constexpr double half = 1U << through_tail_log;
  return 3.0 * static_cast<double>(transform.places.size()) + through_tail_log * half;
}

}  // namespace calpe::engine
