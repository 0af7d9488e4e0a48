// SPDX-License-Identifier: Apache-2.0
// Batches in a queue of the caller: kernels access the shards directly, and the table of shards is
// in the caller's workspace. The device's own queues are not involved.
#pragma once
#include "backend/caller_queues.hpp"
#include "backend/gpu/core.hpp"

namespace calpe::backend::gpu {

class QueuedJobs : public CallerQueues {
 public:
  explicit QueuedJobs(Core& core) : core_(core) {}
  Status prepare(const Kernel& kernel, std::span<const Geometry> regions, bool accumulate) override;
  std::size_t workspace_bytes(const Kernel& kernel, std::size_t stripe_count) const override;
  Status enqueue(const Kernel& kernel, const QueueHandle& queue, const QueuedBatch& batch) override;

 private:
  Core& core_;
};

}  // namespace calpe::backend::gpu
