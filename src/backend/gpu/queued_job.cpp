// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/queued_job.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "backend/gpu/gpu_kernel.hpp"
#include "backend/gpu/launcher.hpp"
#include "base/address.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::gpu {

namespace {

// The table begins at a multiple of this in its buffer, as CallerQueue::write() requires.
constexpr std::size_t table_alignment = CallerQueue::write_multiple * sizeof(std::uint64_t);

std::uint64_t round_up(std::uint64_t number, std::uint64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// Number of bytes of a shard up to the end of the last region.
std::size_t reach_of(std::span<const Geometry> regions, std::size_t units) {
  std::size_t reach = 0;
  for (const Geometry& region : regions) {
    const std::size_t last = region.offset + (region.group_count - 1) * region.group_stride +
                             (units - 1) * region.unit_stride;
    reach = std::max(reach, last + region.unit_bytes);
  }
  return reach;
}

// A range of memory with the caller's name for it: "inputs[3]", or "workspace".
struct Operand {
  const char* list = "";
  std::size_t index = SIZE_MAX;
  const std::byte* start = nullptr;
  std::size_t bytes = 0;

  std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(start); }
};

bool overlap(const Operand& a, const Operand& b) {
  return a.address() < b.address() + b.bytes && b.address() < a.address() + a.bytes;
}

void append_text(std::string& out, const Operand& operand) {
  out += operand.list;
  if (operand.index != SIZE_MAX) out += text("[", operand.index, "]");
  out += text(" at address ", operand.address());
}

class QueuedJob : public CallerWork {
 public:
  QueuedJob(Core& core, const GpuKernel& kernel, const QueuedBatch& batch)
      : core_(core), kernel_(kernel), shape_(kernel.task().shape), batch_(batch) {}

  // Finds every operand on the device.
  Status check() {
    const std::size_t reach = reach_of(batch_.regions, shape_.unit_count);
    CALPE_CHECK(check_workspace());
    for (const Geometry& region : batch_.regions)
      bits_ |= distance_bits(region, shape_);
    CALPE_CHECK(check_list("inputs", batch_.inputs, shape_.input_shards, reach, n_base_));
    CALPE_CHECK(check_list("outputs", batch_.outputs, shape_.output_shards, reach, r_base_));
    if (shape_.input_shards == 0) n_base_ = r_base_;
    return Done{};
  }

  Status add_to(CallerQueue& queue) const override {
    CALPE_CHECK(write_table(queue));
    for (const Geometry& region : batch_.regions) {
      CALPE_CHECK(enqueue(core_, queue, kernel_, reached(region), nullptr));
    }
    return Done{};
  }

 private:
  Reached reached(const Geometry& region) const {
    return {.shards = table_,
            .n_base = n_base_,
            .r_base = r_base_,
            .stripe_count = batch_.stripe_count,
            .geometry = region,
            .accumulate = batch_.accumulate,
            .alignment = common_alignment(bits_)};
  }

  Result<Place> place_of(const Operand& operand) const {
    if (operand.start == nullptr) return invalid(operand, "; expected memory");
    if (core_.info().shares_memory) {
      return Place{.buffer = nullptr, .at = reinterpret_cast<std::uint64_t>(operand.start)};
    }
    const std::optional<Place> first = core_.memory.find(operand.start);
    // The last byte, too: beyond an allocation the kernel would fault, and the device be lost.
    const auto* const last_byte =
        pointer_at<const std::byte>(operand.address() + operand.bytes - 1);
    if (first && core_.memory.find(last_byte)) return *first;
    for (const std::byte* const byte : {operand.start, last_byte}) {
      if (core_.memory.owner_of(byte) == Owner::other_device) return not_ours(core_.info(), byte);
    }
    return invalid(operand, ", ", operand.bytes, " bytes, is not in memory of ", core_.info().name,
                   "; work in a stream or queue needs all shards and its workspace there");
  }

  Operand workspace() const {
    return {
        .list = "workspace", .start = batch_.workspace.data(), .bytes = batch_.workspace.size()};
  }

  Status check_workspace() {
    CALPE_TRY(table_, place_of(workspace()));
    table_.at = round_up(table_.at, table_alignment);
    return Done{};
  }

  template <class Shards>
  Status check_list(const char* list, const Shards* shards, std::size_t each, std::size_t reach,
                    void*& base) {
    for (std::size_t i = 0; i < batch_.stripe_count * each; ++i) {
      const Operand shard = {.list = list, .index = i, .start = shards[i], .bytes = reach};
      CALPE_TRY(const Place place, place_of(shard));
      if (overlap(shard, workspace())) {
        return invalid(shard, " overlaps the workspace; expected memory of its own");
      }
      if (i != 0 && place.buffer != base) {
        return invalid(shard, " is in another buffer than ", list, "[0]; on ", core_.info().name,
                       " all ", list, " of a call must be in one");
      }
      base = place.buffer;
      bits_ |= place.at;
    }
    return Done{};
  }

  Status write_table(CallerQueue& queue) const {
    std::array<std::uint64_t, 256> numbers;
    std::size_t count = 0;
    Place to = table_;
    const auto flush = [&]() -> Status {
      const std::size_t whole = round_up(count, CallerQueue::write_multiple);
      std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(count),
                numbers.begin() + static_cast<std::ptrdiff_t>(whole), 0);
      CALPE_CHECK(queue.write(to, std::span(numbers).first(whole)));
      to.at += whole * sizeof(std::uint64_t);
      count = 0;
      return Done{};
    };
    const auto add = [&](const std::byte* shard) -> Status {
      const bool is_mapped = !core_.info().has_unified_addresses;
      const std::optional<Place> place = is_mapped ? core_.memory.find(shard) : std::nullopt;
      numbers[count++] = place ? place->at : reinterpret_cast<std::uint64_t>(shard);
      return count == numbers.size() ? flush() : Done{};
    };
    for (std::size_t stripe = 0; stripe < batch_.stripe_count; ++stripe) {
      for (std::size_t i = 0; i < shape_.input_shards; ++i)
        CALPE_CHECK(add(batch_.inputs[stripe * shape_.input_shards + i]));
      for (std::size_t i = 0; i < shape_.output_shards; ++i)
        CALPE_CHECK(add(batch_.outputs[stripe * shape_.output_shards + i]));
    }
    return count == 0 ? Done{} : flush();
  }

  Core& core_;
  const GpuKernel& kernel_;
  const emit::DeviceShape& shape_;
  const QueuedBatch& batch_;
  Place table_ = {};
  void* n_base_ = nullptr;
  void* r_base_ = nullptr;
  std::uint64_t bits_ = 0;  // of all addresses and distances
};

}  // namespace

Status QueuedJobs::prepare(const Kernel& kernel, std::span<const Geometry> regions,
                           bool accumulate) {
  const auto& own = static_cast<const GpuKernel&>(kernel);
  CALPE_CHECK(core_.driver->prepare_caller_queues());
  for (const Geometry& region : regions)
    request_variant(core_, own, {.geometry = region, .accumulate = accumulate});
  core_.builder.wait_idle();
  return Done{};
}

std::size_t QueuedJobs::workspace_bytes(const Kernel& kernel, std::size_t stripe_count) const {
  const std::size_t shards = static_cast<const GpuKernel&>(kernel).shards();
  constexpr std::size_t most = SIZE_MAX / sizeof(std::uint64_t) / 2;
  if (shards == 0 || stripe_count == 0) return 0;
  if (stripe_count > most / shards) return SIZE_MAX;
  return round_up(stripe_count * shards * sizeof(std::uint64_t), table_alignment) +
         table_alignment - 1;
}

Status QueuedJobs::enqueue(const Kernel& kernel, const QueueHandle& queue,
                           const QueuedBatch& batch) {
  const auto& own = static_cast<const GpuKernel&>(kernel);
  if (core_.is_lost.load(std::memory_order_acquire)) {
    return make_error(ErrorCode::device_failed, core_.info().name,
                      " was disabled: it did not finish its work");
  }
  CALPE_ASSERT(batch.stripe_count != 0 && !batch.regions.empty());
  CALPE_ASSERT(batch.workspace.size() >= workspace_bytes(kernel, batch.stripe_count));
  QueuedJob job(core_, own, batch);
  CALPE_CHECK(job.check());
  return core_.driver->use_caller_queue(queue, job);
}

}  // namespace calpe::backend::gpu
