// SPDX-License-Identifier: Apache-2.0
// calpe/device_queue.hpp — coding in your own CUDA stream or OpenCL queue, without a wait.
//
//   auto plan = calpe::QueuePlan::create(codec, codec.plan_encode(), shard_bytes);
//   auto workspace = calpe::DeviceMemory::allocate(codec, plan->workspace_bytes(1));
//   ... queue work that fills the data shards on `stream` ...
//   plan->enqueue_cuda(stream, 1, inputs, outputs, workspace->shard(0, workspace->bytes()));
//   ... queue work that reads the parity on `stream` ...
//
// enqueue_cuda() and enqueue_opencl() add the work to the queue and return. It begins after all
// that the queue holds, and what the queue gets later finds its results. The calls do not wait for
// the device and do not allocate, unless they fail. They may be captured into a CUDA graph.
//
// All shards and the workspace are in memory of the codec's device: a DeviceMemory, or with CUDA
// any memory of that GPU. Other addresses are refused with invalid_argument. A device that shares
// the host's memory (OpenCL on the CPU) takes any address, and cannot tell a wrong one.
//
// The stream or queue must be of the context from DeviceMemory::native_context(): with CUDA, the
// primary context of the GPU, which the runtime API uses, too. A null stream is the default stream.
// A queue may work out of order.
//
// Calpe does not wait for the work, so it neither checks it against the CPU nor repeats it there;
// use Codec::verify() on results in doubt. The driver reports errors of running work to the calls
// that wait for the stream or queue.
#pragma once
#include <cstddef>
#include <memory>

#include <calpe/codec.hpp>

namespace calpe {

// A plan for shards of one length, for queues of the caller. Immutable, cheap to copy, thread-safe.
// It may outlive the codec and the plan. Keep a copy until the enqueued work is done, and as long
// as a graph that captured it can be launched.
class QueuePlan {
 public:
  // Compiles the kernel and waits for it, possibly some seconds. Do this before a capture. The
  // option `stores` has no effect. Fails with invalid_argument if the codec does not run on one
  // CUDA or OpenCL device, or shards cannot have this length. With Layout::packets it must be a
  // multiple of the word_bits packets.
  static Result<QueuePlan> create(const Codec& codec, const Plan& plan, std::size_t shard_bytes,
                                  RunOptions options = {});

  QueuePlan() noexcept = default;  // empty: every call fails with invalid_argument
  // Moving copies: the original stays usable.
  QueuePlan(const QueuePlan&) noexcept = default;
  QueuePlan& operator=(const QueuePlan&) noexcept = default;

  std::size_t shard_bytes() const noexcept;
  // Length of the workspace for stripe_count stripes: 8 bytes per shard and at most 255 more. It
  // may have any address.
  std::size_t workspace_bytes(std::size_t stripe_count) const noexcept;

  // Applies the plan to stripes in a CUstream. The lists hold the pointers of all stripes, one
  // stripe after the other, and are only used during the call. The workspace is written in the
  // stream; calls in one stream may share it, and no other stream may use it meanwhile. Fails with
  // invalid_argument if the operands are not as described; nothing is then enqueued. Fails with
  // device_failed if the driver fails; a part may then be enqueued.
  Status enqueue_cuda(void* stream, std::size_t stripe_count, const std::byte* const* inputs,
                      std::byte* const* outputs, Shard workspace) const;
  // The same in a cl_command_queue. If the device does not share the host's memory, all inputs are
  // in one buffer, and all outputs are in one.
  Status enqueue_opencl(void* queue, std::size_t stripe_count, const std::byte* const* inputs,
                        std::byte* const* outputs, Shard workspace) const;

 private:
  struct Impl;
  explicit QueuePlan(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace calpe
