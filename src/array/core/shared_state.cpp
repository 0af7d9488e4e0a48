// SPDX-License-Identifier: Apache-2.0
#include "array/core/shared_state.hpp"

#include <utility>

namespace calpe::array {

SharedState::SharedState(Members& members, const Superblock& newest, Codec array_codec,
                         const OpenOptions& open_options)
    : settings(newest.settings),
      shape(newest.shape),
      layout(layout_of(newest.settings, newest.shape)),
      array(newest.array),
      check(newest.array),
      codec(std::move(array_codec)),
      options(open_options),
      roster(members, layout),
      index(layout),
      table(layout, roster, index, {newest.array, open_options.cache_bytes}),
      stock(layout.roles(), layout.columns),
      stripes(layout),
      overlay(layout) {}

}  // namespace calpe::array
