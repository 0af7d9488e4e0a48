// SPDX-License-Identifier: Apache-2.0
#include "engine/device_access.hpp"

#include "engine/codec_impl.hpp"

namespace calpe::engine {

std::shared_ptr<backend::Device> DeviceAccess::device(const Codec& codec) {
  return codec.impl_ ? codec.impl_->device : nullptr;
}

}  // namespace calpe::engine
