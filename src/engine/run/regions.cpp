// SPDX-License-Identifier: Apache-2.0
#include "engine/run/regions.hpp"

#include <algorithm>

namespace calpe::engine {

Regions regions_of(const CodeSpec& spec, std::size_t data_bytes) noexcept {
  Regions regions;
  const std::size_t rest = data_bytes % group_bytes(spec);
  regions.whole = whole_groups(spec, data_bytes - rest);
  if (is_flat(spec)) return regions;
  const std::size_t units = unit_count(spec);
  const std::size_t last_unit = (rest + units - 1) / units;
  const std::size_t absent = units * last_unit - rest;
  const std::size_t ragged = std::min(absent, last_unit);
  regions.last = {.offset = data_bytes - rest,
                  .unit_bytes = last_unit - ragged,
                  .unit_stride = last_unit,
                  .group_stride = units * last_unit,
                  .group_count = 1};
  regions.ragged = regions.last;
  regions.ragged.offset += last_unit - ragged;
  regions.ragged.unit_bytes = ragged;
  return regions;
}

}  // namespace calpe::engine
