// SPDX-License-Identifier: Apache-2.0
#include "engine/lch_locator.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/assert.hpp"
#include "plan/erasure_locator.hpp"

namespace calpe::engine {

ir::Locator lch_locator(const ir::Transform& transform, const LchLoss& loss) {
  const gf::Field& field = *transform.field;
  const std::size_t size = transform.size();
  const std::size_t count = size + loss.data_shards;
  std::vector<bool> is_read(count);
  for (const std::uint16_t place : loss.reads)
    is_read[place] = true;
  std::vector<std::uint16_t> erased;
  for (std::size_t place = 0; place < count; ++place) {
    if (!is_read[place]) erased.push_back(static_cast<std::uint16_t>(place));
  }
  CALPE_ASSERT(erased.size() <= size);
  const std::vector<std::uint32_t> logs =
      plan::locator_logs(field, transform.points, erased, count);

  ir::Locator locator;
  for (std::size_t i = 0; i < size; ++i)
    locator.scales.push_back(is_read[i] ? field.exp(logs[i]) : gf::Element{0});
  gf::Element common = 1;
  if (locator.scales[0] != 0 &&
      std::ranges::adjacent_find(locator.scales, std::not_equal_to{}) == locator.scales.end()) {
    common = locator.scales[0];
    locator.scales.clear();
  }
  for (const std::uint16_t place : loss.writes) {
    gf::Element divisor = field.exp(logs[place]);
    if (place >= size) {
      divisor = field.multiply(divisor, transform.points[place >> transform.log_size]);
    }
    locator.outputs.push_back({.place = place, .factor = field.divide(common, divisor)});
  }
  return locator;
}

}  // namespace calpe::engine
