// SPDX-License-Identifier: Apache-2.0
// Gives the parts of the public API that deal with devices access to a codec's device.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"

namespace calpe {

struct CodecAccess {
  // nullptr when the codec was moved from.
  static std::shared_ptr<backend::Device> device(const Codec& codec);
};

}  // namespace calpe
