// SPDX-License-Identifier: Apache-2.0
#include "array/core/array_core.hpp"

namespace calpe::array {

Core::Core(Members& members, const Superblock& newest, Codec codec, const OpenOptions& options)
    : settings_(newest.settings),
      shape_(newest.shape),
      layout_(layout_of(newest.settings, newest.shape)),
      array_(newest.array),
      check_(newest.array),
      codec_(std::move(codec)),
      roster_(members, layout_),
      index_(layout_),
      table_(layout_, roster_, index_, {newest.array, options.cache_bytes}),
      stock_(layout_.roles(), layout_.columns),
      stripes_(layout_),
      overlay_(layout_),
      superblock_(newest),
      durable_epoch_(newest.epoch),
      options_(options),
      touched_(layout_.stripes) {}

}  // namespace calpe::array
