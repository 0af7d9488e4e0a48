// SPDX-License-Identifier: Apache-2.0
// A device and its primary context: the one that an application's own CUDA calls use, so that its
// memory is ours, too. Shared by all that was made in it.
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

  // The driver works on the calling thread's current context. This makes ours current, and gives
  // the application its own back.
  class Current {
   public:
    explicit Current(const CudaContext& context);
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current();
    const Status& status() const noexcept { return status_; }

   private:
    const CudaApi& api_;
    Status status_;
  };

  // The same function of the api, with the context current.
  template <class... Parameters, class... Arguments>
  Status call(const Function<Parameters...>& function, Arguments... arguments) const {
    const Current current(*this);
    if (!current.status()) return current.status();
    return api_.call(function, arguments...);
  }
  // The same where a failure means only that what was to be given back is gone already.
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
