// SPDX-License-Identifier: Apache-2.0
// Work in a stream or queue of the caller: started by the caller's queue, after what it holds, and
// visible to what it gets later. Nothing here waits for the device, and enqueue() allocates nothing
// unless it fails.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include <calpe/result.hpp>

#include "backend/backend.hpp"

namespace calpe::backend {

enum class QueueKind : std::uint8_t { cuda_stream, opencl_queue };

// A CUstream, whose null is the default stream, or a cl_command_queue.
struct QueueHandle {
  QueueKind kind = QueueKind::cuda_stream;
  std::uint64_t handle = 0;
};

// A batch for such a queue, of at least one stripe, region and output shard. All shards and the
// workspace, which has at least workspace_bytes(), are in memory that the device reaches.
struct QueuedBatch {
  std::size_t stripe_count = 1;
  const std::byte* const* inputs = nullptr;  // as in Batch
  std::byte* const* outputs = nullptr;
  std::span<const Geometry> regions = {};  // of every shard; none is empty
  bool accumulate = false;
  std::span<std::byte> workspace = {};  // in use until the work is done
};

class CallerQueues {
 public:
  virtual ~CallerQueues() = default;
  // Compiles what enqueue() will use for these regions, and waits for that.
  virtual Status prepare(const Kernel& kernel, std::span<const Geometry> regions,
                         bool accumulate) = 0;
  // Length of the workspace, at any alignment.
  virtual std::size_t workspace_bytes(const Kernel& kernel, std::size_t stripe_count) const = 0;
  // The kernel must live until the work is done; in a captured graph, as long as the graph. Fails
  // with invalid_argument if the device does not reach a shard or the workspace, or the queue is of
  // another device, and then adds nothing to the queue.
  virtual Status enqueue(const Kernel& kernel, const QueueHandle& queue,
                         const QueuedBatch& batch) = 0;
};

}  // namespace calpe::backend
