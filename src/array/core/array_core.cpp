// SPDX-License-Identifier: Apache-2.0
#include "array/core/array_core.hpp"

#include "base/text.hpp"

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
      pending_(std::make_unique<Batch>(layout_)),
      committing_(std::make_unique<Batch>(layout_)),
      slots_(layout_.stripes, no_slot),
      free_slots_(layout_.slots),
      superblock_(newest),
      durable_epoch_(newest.epoch),
      options_(options),
      touched_(layout_.stripes) {}

Status Core::check_range(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= settings_.bytes && length <= settings_.bytes - offset) return Done{};
  return make_error(ErrorCode::invalid_argument, "bytes ", offset, " + ", length,
                    " are asked for, expected at most ", settings_.bytes);
}

Status Core::failed() const {
  if (!roster_.is_failed()) return Done{};
  return Error{ErrorCode::unrecoverable, roster_.failed()};
}

}  // namespace calpe::array
