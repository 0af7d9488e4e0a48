// SPDX-License-Identifier: Apache-2.0
// Nothing is copied: kernels read and write the shards where they are.
#include <algorithm>
#include <bit>

#include "backend/gpu/job.hpp"
#include "backend/gpu/launcher.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// The lowest bit set in any of them says what divides all.
std::size_t common_alignment(std::uint64_t bits) {
  constexpr std::uint64_t most = 4096;
  return std::size_t{1} << static_cast<unsigned>(std::countr_zero(bits | most));
}

class DirectJob : public Completion::Pending {
 public:
  DirectJob(Core& core, const GpuKernel& kernel) : core_(core), kernel_(kernel) {}
  DirectJob(const DirectJob&) = delete;
  DirectJob& operator=(const DirectJob&) = delete;
  ~DirectJob() override {
    if (slot_) static_cast<void>(finish());
  }

  void start(const Batch& batch, const Variant* forced) {
    Result<std::unique_ptr<Slot>> slot = core_.slots.take();
    if (!slot) {
      failed_ = std::move(slot).error();
      return;
    }
    slot_ = *std::move(slot);
    if (Status begun = enqueue_batch(batch, forced); !begun) {
      event_ = std::move(begun).error();
    } else {
      event_ = slot_->queue().mark();
    }
  }

  Status wait() override {
    if (failed_) return *std::move(failed_);
    return finish();
  }

 private:
  Status finish() {
    return finish_slot(core_, std::move(slot_), std::move(event_),
                       core_.info().shares_memory ? Writes::host_memory : Writes::own_memory);
  }

  Place place_of(const std::byte* shard) const {
    if (!core_.info().shares_memory) {
      if (const auto place = core_.memory.find(shard)) return *place;
    }
    return {.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(shard)};
  }

  Status enqueue_batch(const Batch& batch, const Variant* forced) {
    const emit::DeviceShape& shape = kernel_.task().shape;
    CALPE_TRY(std::uint64_t * entry, slot_->make_table(batch.stripe_count * kernel_.shards()));
    const Geometry& geometry = batch.geometry;
    std::uint64_t bits = geometry.offset;
    if (geometry.group_count > 1) bits |= geometry.group_stride;
    if (shape.unit_count > 1) bits |= geometry.unit_stride;
    Reached reached = {
        .stripe_count = batch.stripe_count, .geometry = geometry, .accumulate = batch.accumulate};
    const auto add = [&](const std::byte* shard, void*& base) {
      const Place place = place_of(shard);
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
    CALPE_TRY(reached.shards, slot_->upload_table());
    return enqueue(core_, slot_->queue(), kernel_, reached, forced);
  }

  Core& core_;
  const GpuKernel& kernel_;
  std::unique_ptr<Slot> slot_;
  Result<std::unique_ptr<Event>> event_ = std::unique_ptr<Event>();
  std::optional<Error> failed_;
};

}  // namespace

std::unique_ptr<Completion::Pending> make_direct_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced) {
  auto job = std::make_unique<DirectJob>(core, kernel);
  job->start(batch, forced);
  return job;
}

}  // namespace calpe::backend::gpu
