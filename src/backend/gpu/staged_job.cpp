// SPDX-License-Identifier: Apache-2.0
// Runs a batch through copies. Each chunk is packed into pinned memory, copied to the device,
// computed and copied back in its own slot and queue, so that copies overlap with kernels. Units
// are padded to whole words, so kernels see no odd lengths.
#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

#include "backend/gpu/chunks.hpp"
#include "backend/gpu/job.hpp"
#include "backend/gpu/launcher.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// Copy in, compute, copy out: more chunks would have nothing to overlap with.
constexpr std::size_t under_way_max = 3;

class StagedJob final : public Completion::Pending {
 public:
  StagedJob(Core& core, const GpuKernel& kernel, const Batch& batch, const Variant* forced)
      : core_(core),
        kernel_(kernel),
        shape_(kernel.task().shape),
        batch_(batch),
        forced_(forced),
        inputs_(batch.inputs, batch.inputs + batch.stripe_count * shape_.input_shards),
        outputs_(batch.outputs, batch.outputs + batch.stripe_count * shape_.output_shards),
        is_input_far_(which_are_far(inputs_)),
        is_output_far_(which_are_far(outputs_)),
        cursor_(batch, {.shards = kernel.shards(),
                        .unit_count = shape_.unit_count,
                        .word_bytes = kernel.word_bytes(),
                        .room = core.options.slot_bytes,
                        .stripes_max = core.stripes_max(kernel.shards())}) {}
  StagedJob(const StagedJob&) = delete;
  StagedJob& operator=(const StagedJob&) = delete;
  ~StagedJob() override {
    if (!is_waited_) static_cast<void>(wait());
  }

  // As many chunks as there are free slots, at least one.
  void start() {
    while (status_ && !cursor_.at_end() && under_way_.size() < under_way_max) {
      std::unique_ptr<Slot> slot = core_.slots.take_free();
      if (!slot) {
        Result<std::unique_ptr<Slot>> made = core_.slots.take();
        if (!made) {
          if (under_way_.empty()) status_ = std::move(made).error();
          return;
        }
        slot = *std::move(made);
      }
      begin_chunk(std::move(slot));
    }
  }

  Status wait() override {
    is_waited_ = true;
    while (!under_way_.empty()) {
      finish_chunk();
      start();
    }
    return std::move(status_);
  }

 private:
  struct UnderWay {
    Chunk chunk = {};
    std::unique_ptr<Slot> slot = {};
    Result<std::unique_ptr<Event>> event = std::unique_ptr<Event>();
  };

  void begin_chunk(std::unique_ptr<Slot> slot) {
    UnderWay work = {.chunk = cursor_.take(), .slot = std::move(slot)};
    if (Status begun = enqueue_chunk(*work.slot, work.chunk); !begun) {
      work.event = std::move(begun).error();
    } else {
      work.event = work.slot->queue().mark();
    }
    under_way_.push_back(std::move(work));
  }

  void finish_chunk() {
    UnderWay work = std::move(under_way_.front());
    under_way_.pop_front();
    Status done = finish_slot(core_, std::move(work.slot), std::move(work.event),
                              writes_host_ ? Writes::host_memory : Writes::own_memory,
                              [&](Slot& slot) { unpack_outputs(slot, work.chunk); });
    if (!done && status_) status_ = std::move(done);
  }

  std::size_t input_bytes(const Chunk& chunk) const {
    return chunk.stripes * shape_.input_shards * cursor_.shard_bytes(chunk);
  }
  std::size_t output_bytes(const Chunk& chunk) const {
    return chunk.stripes * shape_.output_shards * cursor_.shard_bytes(chunk);
  }

  // Calls each(unit of the shard, its copy, bytes) for every unit of a shard, or once if the copy
  // has the same layout.
  template <class Each>
  Status for_units(const Chunk& chunk, const Each& each) const {
    const Geometry& g = batch_.geometry;
    const std::size_t pitch = cursor_.pitch(chunk.columns);
    const std::size_t start = g.offset + chunk.group * g.group_stride + chunk.column;
    const bool units_touch = shape_.unit_count == 1 || g.unit_stride == pitch;
    const bool groups_touch = chunk.groups == 1 || g.group_stride == shape_.unit_count * pitch;
    if (units_touch && groups_touch &&
        (pitch == chunk.columns || cursor_.shard_bytes(chunk) == pitch)) {
      const std::size_t bytes = pitch == chunk.columns ? cursor_.shard_bytes(chunk) : chunk.columns;
      return each(start, std::size_t{0}, bytes);
    }
    for (std::size_t group = 0; group < chunk.groups; ++group) {
      for (std::size_t unit = 0; unit < shape_.unit_count; ++unit) {
        CALPE_CHECK(each(start + group * g.group_stride + unit * g.unit_stride,
                         (group * shape_.unit_count + unit) * pitch, chunk.columns));
      }
    }
    return Done{};
  }

  // The caller's shards, not those of a variant under test.
  void count_bytes(std::atomic<std::uint64_t>& counter, std::size_t bytes) const {
    if (forced_ == nullptr) counter.fetch_add(bytes, std::memory_order_relaxed);
  }

  Place at(const Slot& slot, std::size_t offset) const {
    return {.buffer = slot.device().buffer, .at = slot.device().at + offset};
  }

  // Shards [0, count) of the chunk's stripes, at `base` of the slot.
  template <class Pointer>
  Status copy_shards_in(Slot& slot, const Chunk& chunk, const std::vector<Pointer>& shards,
                        const std::vector<bool>& is_far, std::size_t per_stripe, std::size_t base) {
    const std::size_t shard_bytes = cursor_.shard_bytes(chunk);
    const std::size_t count = chunk.stripes * per_stripe;
    std::vector<bool> is_packed(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const shard = shards[chunk.stripe * per_stripe + i];
      if (is_far[chunk.stripe * per_stripe + i] || is_pinned(shard, chunk)) continue;
      is_packed[i] = true;
      std::byte* const copy = slot.host() + base + i * shard_bytes;
      CALPE_CHECK(
          for_units(chunk, [&](std::size_t from, std::size_t to, std::size_t bytes) -> Status {
            std::memcpy(copy + to, shard + from, bytes);
            return Done{};
          }));
    }
    if (std::ranges::find(is_packed, true) != is_packed.end()) {
      CALPE_CHECK(slot.queue().copy_in(at(slot, base), slot.host() + base, count * shard_bytes));
      count_bytes(core_.counters.copy_in_bytes, count * shard_bytes);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (is_packed[i]) continue;
      const std::byte* const shard = shards[chunk.stripe * per_stripe + i];
      const bool is_on_device = is_far[chunk.stripe * per_stripe + i];
      CALPE_CHECK(for_units(chunk, [&](std::size_t from, std::size_t to, std::size_t bytes) {
        const Place copy = at(slot, base + i * shard_bytes + to);
        if (is_on_device) {
          return slot.queue().copy_within(copy, *core_.memory.find(shard + from), bytes);
        }
        count_bytes(core_.counters.copy_in_bytes, bytes);
        return slot.queue().copy_in(copy, shard + from, bytes);
      }));
    }
    return Done{};
  }

  // Looked up once, because a driver that knows owners is asked for every shard.
  template <class Pointer>
  std::vector<bool> which_are_far(const std::vector<Pointer>& shards) const {
    std::vector<bool> is_far(shards.size());
    if (core_.memory.is_empty()) return is_far;
    for (std::size_t i = 0; i < shards.size(); ++i)
      is_far[i] = core_.memory.holds(shards[i]);
    return is_far;
  }

  // True if the chunk of a host shard is in memory as fast to copy as the slot's.
  bool is_pinned(const std::byte* shard, const Chunk& chunk) const {
    const Geometry& g = batch_.geometry;
    const std::size_t start = g.offset + chunk.group * g.group_stride + chunk.column;
    const std::size_t bytes = (chunk.groups - 1) * g.group_stride +
                              (shape_.unit_count - 1) * g.unit_stride + chunk.columns;
    return core_.memory.is_registered(shard + start, bytes);
  }

  Status enqueue_chunk(Slot& slot, const Chunk& chunk) {
    const std::size_t shard_bytes = cursor_.shard_bytes(chunk);
    const std::size_t outputs_at = input_bytes(chunk);
    CALPE_CHECK(
        slot.make_room(std::max(core_.options.slot_bytes, outputs_at + output_bytes(chunk))));
    CALPE_CHECK(copy_shards_in(slot, chunk, inputs_, is_input_far_, shape_.input_shards, 0));
    if (batch_.accumulate) {
      CALPE_CHECK(
          copy_shards_in(slot, chunk, outputs_, is_output_far_, shape_.output_shards, outputs_at));
    }
    CALPE_TRY(std::uint64_t * entry, slot.make_table(chunk.stripes * kernel_.shards()));
    for (std::size_t stripe = 0; stripe < chunk.stripes; ++stripe) {
      for (std::size_t i = 0; i < shape_.input_shards; ++i)
        *entry++ = slot.device().at + (stripe * shape_.input_shards + i) * shard_bytes;
      for (std::size_t i = 0; i < shape_.output_shards; ++i) {
        *entry++ =
            slot.device().at + outputs_at + (stripe * shape_.output_shards + i) * shard_bytes;
      }
    }
    CALPE_TRY(const Place table, slot.upload_table());
    const std::size_t pitch = cursor_.pitch(chunk.columns);
    const Reached reached = {.shards = table,
                             .n_base = slot.device().buffer,
                             .r_base = slot.device().buffer,
                             .stripe_count = chunk.stripes,
                             .geometry = {.offset = 0,
                                          .unit_bytes = pitch,
                                          .unit_stride = pitch,
                                          .group_stride = shape_.unit_count * pitch,
                                          .group_count = chunk.groups},
                             .accumulate = batch_.accumulate,
                             .alignment = kernel_.word_bytes()};
    CALPE_CHECK(enqueue(core_, slot.queue(), kernel_, reached, forced_));
    return copy_shards_out(slot, chunk, outputs_at);
  }

  Status copy_shards_out(Slot& slot, const Chunk& chunk, std::size_t base) {
    const std::size_t shard_bytes = cursor_.shard_bytes(chunk);
    const std::size_t count = chunk.stripes * shape_.output_shards;
    bool is_packed = false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t number = chunk.stripe * shape_.output_shards + i;
      std::byte* const shard = outputs_[number];
      const bool is_on_device = is_output_far_[number];
      if (!is_on_device && !is_pinned(shard, chunk)) {
        is_packed = true;
        continue;
      }
      CALPE_CHECK(for_units(chunk, [&](std::size_t to, std::size_t from, std::size_t bytes) {
        const Place copy = at(slot, base + i * shard_bytes + from);
        if (is_on_device) {
          return slot.queue().copy_within(*core_.memory.find(shard + to), copy, bytes);
        }
        writes_host_ = true;
        count_bytes(core_.counters.copy_out_bytes, bytes);
        return slot.queue().copy_out(shard + to, copy, bytes);
      }));
    }
    if (!is_packed) return Done{};
    count_bytes(core_.counters.copy_out_bytes, count * shard_bytes);
    return slot.queue().copy_out(slot.host() + base, at(slot, base), count * shard_bytes);
  }

  void unpack_outputs(Slot& slot, const Chunk& chunk) {
    const std::size_t shard_bytes = cursor_.shard_bytes(chunk);
    for (std::size_t i = 0; i < chunk.stripes * shape_.output_shards; ++i) {
      const std::size_t number = chunk.stripe * shape_.output_shards + i;
      std::byte* const shard = outputs_[number];
      if (is_output_far_[number] || is_pinned(shard, chunk)) continue;
      const std::byte* const copy = slot.host() + input_bytes(chunk) + i * shard_bytes;
      static_cast<void>(
          for_units(chunk, [&](std::size_t to, std::size_t from, std::size_t bytes) -> Status {
            std::memcpy(shard + to, copy + from, bytes);
            return Done{};
          }));
    }
  }

  Core& core_;
  const GpuKernel& kernel_;
  emit::DeviceShape shape_;
  Batch batch_;
  const Variant* forced_;
  std::vector<const std::byte*> inputs_;  // the caller's arrays may be gone when we continue
  std::vector<std::byte*> outputs_;
  std::vector<bool> is_input_far_;  // on the device
  std::vector<bool> is_output_far_;
  bool writes_host_ = false;  // the device copies results to the caller's registered memory
  ChunkCursor cursor_;
  std::deque<UnderWay> under_way_;
  Status status_ = Done{};
  bool is_waited_ = false;
};

}  // namespace

std::unique_ptr<Completion::Pending> make_staged_job(Core& core, const GpuKernel& kernel,
                                                     const Batch& batch, const Variant* forced) {
  auto job = std::make_unique<StagedJob>(core, kernel, batch, forced);
  job->start();
  return job;
}

}  // namespace calpe::backend::gpu
