// SPDX-License-Identifier: Apache-2.0
#include "engine/run/regions.hpp"

#include <algorithm>

namespace calpe::engine {

Regions regions_of(const CodeSpec& spec, std::size_t data_bytes) noexcept {
  Regions regions;
  const std::size_t rest = data_bytes % group_bytes(spec);
  regions.whole = whole_groups(spec, data_bytes - rest);
  if (spec.layout == Layout::bytes) return regions;
  const std::size_t w = spec.word_bits;
  const std::size_t last_packet = (rest + w - 1) / w;
  const std::size_t absent = w * last_packet - rest;
  const std::size_t ragged = std::min(absent, last_packet);
  regions.last = {.offset = data_bytes - rest,
                  .unit_bytes = last_packet - ragged,
                  .unit_stride = last_packet,
                  .group_stride = w * last_packet,
                  .group_count = 1};
  regions.ragged = regions.last;
  regions.ragged.offset += last_packet - ragged;
  regions.ragged.unit_bytes = ragged;
  return regions;
}

}  // namespace calpe::engine
