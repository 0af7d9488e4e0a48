// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_context.hpp"

#include "base/try.hpp"

namespace calpe::backend::cuda {

Result<ContextRef> CudaContext::open(const CudaApi& api, CuDevice device) {
  CuContext context = nullptr;
  CALPE_CHECK(api.call(api.primary_ctx_retain, &context, device));
  return ContextRef(new CudaContext(api, device, context));
}

CudaContext::~CudaContext() {
  api_.primary_ctx_release.address(device_);
}

CudaContext::Current::Current(const CudaContext& context)
    : api_(context.api_),
      status_(context.api_.call(context.api_.ctx_push_current, context.context_)) {}

CudaContext::Current::~Current() {
  CuContext ours = nullptr;
  if (status_) api_.ctx_pop_current.address(&ours);
}

}  // namespace calpe::backend::cuda
