// SPDX-License-Identifier: Apache-2.0
// A stream of the caller, and the kernels that write the table of shards in it. A copy from host
// memory would not do: the driver may wait for the stream before it reads pageable memory, and a
// graph would read it again with each launch. A kernel's arguments are copied by both.
#pragma once
#include <array>
#include <memory>

#include "backend/cuda/cuda_queue.hpp"

namespace calpe::backend::cuda {

// Kernels that write their arguments to memory.
class NumberWriter {
 public:
  // Numbers per launch. Arguments may have 4 KiB.
  static constexpr std::array<std::size_t, 3> sizes = {256, 64, 16};
  static_assert(sizes.back() == gpu::CallerQueue::write_multiple);

  // PTX with one entry per size, and their names.
  static emit::DeviceText text();
  // `module` is built from text(), for groups of one work-item.
  explicit NumberWriter(std::unique_ptr<gpu::Module> module) : module_(std::move(module)) {}
  Status write(const CudaContext& context, CuStream stream, const gpu::Place& to,
               std::span<const std::uint64_t> numbers) const;

 private:
  std::unique_ptr<gpu::Module> module_;
};

class CudaCallerStream final : public gpu::CallerQueue {
 public:
  // Fails with invalid_argument if the stream is of another context.
  static Status check(const CudaContext& context, CuStream stream);

  CudaCallerStream(const CudaContext& context, CuStream stream, const NumberWriter& writer)
      : context_(context), stream_(stream), writer_(writer) {}
  Status launch(const gpu::Module& module, const gpu::Launch& launch) override {
    return launch_in(context_, stream_, static_cast<const CudaModule&>(module), launch);
  }
  Status write(const gpu::Place& to, std::span<const std::uint64_t> numbers) override {
    return writer_.write(context_, stream_, to, numbers);
  }

 private:
  const CudaContext& context_;
  CuStream stream_;
  const NumberWriter& writer_;
};

}  // namespace calpe::backend::cuda
