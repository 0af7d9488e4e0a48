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
      status_(context.api_.call(context.api_.ctx_push_current, context.context_)) {
  exchange_capture_mode();
}

CudaContext::Current::~Current() {
  exchange_capture_mode();
  CuContext ours = nullptr;
  if (status_) api_.ctx_pop_current.address(&ours);
}

// Drivers before CUDA 10.1 have neither the function nor captures that it matters for.
void CudaContext::Current::exchange_capture_mode() {
  if (api_.exchange_capture_mode.address != nullptr) {
    api_.exchange_capture_mode.address(&other_mode_);
  }
}

}  // namespace calpe::backend::cuda
