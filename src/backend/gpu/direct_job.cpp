// SPDX-License-Identifier: Apache-2.0
// Runs a batch in place: kernels access the shards directly.
#include <algorithm>
#include <utility>
#include <vector>

#include "backend/gpu/job.hpp"
#include "backend/gpu/launcher.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

Place place_of(const Core& core, const std::byte* shard) {
  if (!core.info().shares_memory) {
    if (const auto place = core.memory.find(shard)) return *place;
  }
  return {.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(shard)};
}

class DirectJob : public Completion::Pending {
 public:
  DirectJob(Core& core, const GpuKernel& kernel) : core_(core), kernel_(kernel) {}
  DirectJob(const DirectJob&) = delete;
  DirectJob& operator=(const DirectJob&) = delete;
  ~DirectJob() override { static_cast<void>(finish()); }

  // Split so that the device can allocate the shard tables; nearly always one piece.
  void start(const Batch& batch, const Variant* forced) {
    const std::size_t most = core_.stripes_max(kernel_.shards());
    for (std::size_t first = 0; first < batch.stripe_count && status_; first += most) {
      Batch piece = batch;
      piece.inputs += first * kernel_.task().shape.input_shards;
      piece.outputs += first * kernel_.task().shape.output_shards;
      piece.stripe_count = std::min(most, batch.stripe_count - first);
      status_ = start_piece(piece, forced);
    }
  }

  Status wait() override { return finish(); }

 private:
  struct Piece {
    std::unique_ptr<Slot> slot = {};
    Result<std::unique_ptr<Event>> event = std::unique_ptr<Event>();
  };

  Status start_piece(const Batch& batch, const Variant* forced) {
    CALPE_TRY(std::unique_ptr<Slot> slot, core_.slots.take());
    Status begun = enqueue_direct(core_, *slot, kernel_, batch, forced);
    Result<std::unique_ptr<Event>> event =
        begun ? slot->queue().mark() : Result<std::unique_ptr<Event>>(std::move(begun).error());
    pieces_.push_back({.slot = std::move(slot), .event = std::move(event)});
    return Done{};
  }

  // Waits for all pieces, because the caller may then free the memory; returns the first failure.
  Status finish() {
    for (Piece& piece : std::exchange(pieces_, {})) {
      Status done =
          finish_slot(core_, std::move(piece.slot), std::move(piece.event),
                      core_.info().shares_memory ? Writes::host_memory : Writes::own_memory);
      if (!done && status_) status_ = std::move(done);
    }
    return std::exchange(status_, Done{});
  }

  Core& core_;
  const GpuKernel& kernel_;
  std::vector<Piece> pieces_;
  Status status_ = Done{};
};

}  // namespace

Status enqueue_direct(Core& core, Slot& slot, const GpuKernel& kernel, const Batch& batch,
                      const Variant* forced) {
  const emit::DeviceShape& shape = kernel.task().shape;
  CALPE_TRY(std::uint64_t * entry, slot.make_table(batch.stripe_count * kernel.shards()));
  const Geometry& geometry = batch.geometry;
  std::uint64_t bits = distance_bits(geometry, shape);
  Reached reached = {
      .stripe_count = batch.stripe_count, .geometry = geometry, .accumulate = batch.accumulate};
  const auto add = [&](const std::byte* shard, void*& base) {
    const Place place = place_of(core, shard);
    base = place.buffer;
    bits |= place.at;
    *entry++ = place.at;
  };
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    for (std::size_t i = 0; i < shape.input_shards; ++i)
      add(batch.inputs[stripe * shape.input_shards + i], reached.n_base);
    for (std::size_t i = 0; i < shape.output_shards; ++i)
      add(batch.outputs[stripe * shape.output_shards + i], reached.r_base);
  }
  reached.alignment = common_alignment(bits);
  if (reached.n_base == nullptr) reached.n_base = reached.r_base;  // no inputs
  CALPE_TRY(reached.shards, slot.upload_table());
  return enqueue(core, slot.queue(), kernel, reached, forced);
}

std::unique_ptr<Completion::Pending> make_direct_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced) {
  auto job = std::make_unique<DirectJob>(core, kernel);
  job->start(batch, forced);
  return job;
}

}  // namespace calpe::backend::gpu
