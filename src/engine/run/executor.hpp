// SPDX-License-Identifier: Apache-2.0
// Applies a kernel to stripes: in place where shards are contiguous, through a small staging area
// where they are ragged or in pieces, on the caller's thread or spread over a pool.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"
#include "base/thread_pool.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/shard_lengths.hpp"
#include "engine/run/stripe_check.hpp"

namespace calpe::engine {

// A kernel with the shards it reads and writes.
struct Task {
  const backend::Kernel* kernel = nullptr;
  std::span<const ShardIndex> reads;
  std::span<const ShardIndex> writes;
  bool accumulate = false;
  Stores stores = Stores::automatic;
};

// Checked pointers to one stripe's contiguous shards.
struct StripePointers {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
  ShardLengths lengths = {};
};

// One stripe whose shards have `bytes` bytes each. The geometry is built in place: a copy of it
// would be a string instruction, 20 ns.
inline backend::Batch plain_batch(const CodeSpec& spec, const Task& task,
                                  const StripeArrays& stripe, std::size_t bytes) noexcept {
  return {.inputs = stripe.inputs.data(),
          .outputs = stripe.outputs.data(),
          .geometry = whole_groups(spec, bytes),
          .accumulate = task.accumulate,
          .stores = task.stores};
}

class Executor {
 public:
  Executor(const CodeSpec& spec, backend::Device& device, ThreadPool* pool)
      : spec_(spec), device_(device), pool_(pool) {}

  Status run(const Task& task, const StripePointers& stripe) const;

  // `batch`: one stripe, from plain_batch().
  Status run_plain(const Task& task, const backend::Batch& batch) const {
    if (pool_ == nullptr && batch.geometry.unit_bytes != 0) {
      return device_.run(*task.kernel, batch);
    }
    return submit(task, 1, {.inputs = batch.inputs, .outputs = batch.outputs}, batch.geometry);
  }

  // Stripes of one length, their pointers one after the other.
  Status run_equal(const Task& task, std::size_t stripe_count, const StripePointers& first) const;

  // The same; what is not complete when it returns is appended to `under_way`, and needs the lists
  // of pointers until it was waited for.
  Status start_equal(const Task& task, std::size_t stripe_count, const StripePointers& first,
                     std::vector<backend::Completion>& under_way) const;

  // One of the parts of run_equal(), which any threads may run in any order.
  struct Part {
    backend::Batch batch;
    ShardLengths lengths;
    bool is_ragged = false;
  };
  // Appends the parts for this many threads. They need the lists of pointers until they have run.
  void split_equal(const Task& task, std::size_t stripe_count, const StripePointers& first,
                   std::size_t threads, std::vector<Part>& parts) const;
  Status run_part(const Task& task, const Part& part) const;

  // The pieces of every shard have the lengths in `lengths`.
  Status run_pieces(const Task& task, std::span<const ConstShardPieces> inputs,
                    std::span<const ShardPieces> outputs, ShardLengths lengths) const;

  // Shards that may be shorter than `lengths`: inputs are zero behind their end, outputs are not
  // written there.
  Status run_short(const Task& task, std::span<const ConstShard> inputs,
                   std::span<const Shard> outputs, ShardLengths lengths) const;

  // Not for a flat layout: the one input is zero but for `delta`, which begins at byte `offset` of
  // it.
  Status run_change(const Task& task, ConstShard delta, std::size_t offset,
                    std::span<const ShardPieces> outputs, ShardLengths lengths) const;

 private:
  Status submit(const Task& task, std::size_t stripe_count, const StripePointers& first,
                const backend::Geometry& geometry) const;
  Status run_ragged(const Task& task, std::size_t stripe_count, const StripePointers& first,
                    const backend::Geometry& geometry) const;
  Status run_short_bytes(const Task& task, std::span<const ConstShard> inputs,
                         std::span<const Shard> outputs, std::size_t shard_bytes,
                         std::size_t& offset, std::byte* unwanted) const;
  Status run_short_groups(const Task& task, std::span<const ConstShard> inputs,
                          std::span<const Shard> outputs, std::size_t shard_bytes) const;
  Status run_runs(const Task& task, std::span<const ConstShardPieces> inputs,
                  std::span<const ShardPieces> outputs) const;
  Status run_staged(const Task& task, std::span<const ConstShardPieces> inputs,
                    std::span<const ShardPieces> outputs, const backend::Geometry& geometry,
                    std::size_t input_start) const;

  const CodeSpec& spec_;
  backend::Device& device_;
  ThreadPool* pool_;  // nullptr: the caller's thread
};

}  // namespace calpe::engine
