// SPDX-License-Identifier: Apache-2.0
// The device of a codec, for the parts of the public API that are about devices.
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
