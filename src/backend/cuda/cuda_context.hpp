// SPDX-License-Identifier: Apache-2.0
// A device and its primary context. The application's CUDA calls use the same context, so memory
// can be shared. Shared by everything that was created in it.
#pragma once
#include <memory>

#include <calpe/result.hpp>

#include "backend/cuda/cuda_api.hpp"

namespace calpe::backend::cuda {

class CudaContext {
 public:
  static Result<std::shared_ptr<const CudaContext>> open(const CudaApi& api, CuDevice device);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext();

  const CudaApi& api() const noexcept { return api_; }
  CuDevice device() const noexcept { return device_; }
  CuContext handle() const noexcept { return context_; }

  // Makes this context current on the calling thread and restores the application's on destruction.
  // Meanwhile calls do not invalidate a stream capture of the application, on whatever thread:
  // Calpe never uses its streams.
  class Current {
   public:
    explicit Current(const CudaContext& context);
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current();
    const Status& status() const noexcept { return status_; }

   private:
    void exchange_capture_mode();

    const CudaApi& api_;
    Status status_;
    CuCaptureMode other_mode_ = capture_mode_relaxed;  // the thread's, while this exists
  };

  // Calls a driver function with the context current.
  template <class... Parameters, class... Arguments>
  Status call(const Function<Parameters...>& function, Arguments... arguments) const {
    const Current current(*this);
    if (!current.status()) return current.status();
    return api_.call(function, arguments...);
  }
  // The same, ignoring errors: used to release resources that may already be gone.
  template <class... Parameters, class... Arguments>
  void give_back(const Function<Parameters...>& function, Arguments... arguments) const {
    const Current current(*this);
    if (current.status()) function.address(arguments...);
  }

 private:
  CudaContext(const CudaApi& api, CuDevice device, CuContext context)
      : api_(api), device_(device), context_(context) {}

  const CudaApi& api_;
  CuDevice device_;
  CuContext context_;
};
using ContextRef = std::shared_ptr<const CudaContext>;

}  // namespace calpe::backend::cuda
