// SPDX-License-Identifier: Apache-2.0
#include "engine/codec_access.hpp"

#include "engine/codec_impl.hpp"

namespace calpe {

std::shared_ptr<backend::Device> CodecAccess::device(const Codec& codec) {
  return codec.impl_ ? codec.impl_->device : nullptr;
}

}  // namespace calpe
