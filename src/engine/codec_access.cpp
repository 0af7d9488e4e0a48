// SPDX-License-Identifier: Apache-2.0
#include "engine/codec_access.hpp"

#include "engine/codec_impl.hpp"

namespace calpe {

std::shared_ptr<backend::Device> CodecAccess::device(const Codec& codec) {
  return codec.impl_ ? codec.impl_->device : nullptr;
}

Result<CodecAccess::PlanParts> CodecAccess::plan_parts(const Codec& codec, const Plan& plan) {
  return Codec::Impl::plan_parts(codec.impl_.get(), plan);
}

}  // namespace calpe
