// SPDX-License-Identifier: Apache-2.0
#include "reram/device/reram_job.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/divide_up.hpp"
#include "reram/bit_lanes.hpp"

namespace calpe::backend::reram {

namespace {

constexpr std::size_t symbol_bits = 8;

void put(std::span<std::byte> target, std::span<const std::byte> bytes, bool accumulate) {
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = accumulate ? target[i] ^ bytes[i] : bytes[i];
}

// Converts values to words of 64 lanes, one per vector.
//
// xor dialect: a value is a unit; bit t of its bytes belongs to vector t.
struct UnitLanes {
  static constexpr std::size_t bytes_per_word = 8;
  static constexpr std::size_t values_per_unit = 1;
  static void load(std::span<const std::byte> bytes, std::uint64_t* values) {
    *values = calpe::reram::load_lanes(bytes);
  }
  static void store(const std::uint64_t* values, std::span<std::byte> bytes, bool accumulate) {
    std::array<std::byte, bytes_per_word> buffer = {};
    calpe::reram::store_lanes(*values, buffer);
    put(bytes, buffer, accumulate);
  }
};

// gf dialect: a unit is a shard of symbols; byte t belongs to vector t, bit b to value b.
struct SymbolLanes {
  static constexpr std::size_t bytes_per_word = 64;
  static constexpr std::size_t values_per_unit = symbol_bits;
  static void load(std::span<const std::byte> bytes, std::uint64_t* values) {
    std::ranges::copy(calpe::reram::load_planes(bytes), values);
  }
  static void store(const std::uint64_t* values, std::span<std::byte> bytes, bool accumulate) {
    calpe::reram::BytePlanes planes = {};
    std::copy_n(values, planes.size(), planes.begin());
    std::array<std::byte, bytes_per_word> buffer = {};
    calpe::reram::store_planes(planes, buffer);
    put(bytes, buffer, accumulate);
  }
};

template <class Lanes>
class PacketRunner {
 public:
  PacketRunner(calpe::reram::ReramMemory& memory, const ReramKernel& kernel, const Batch& batch)
      : memory_(&memory),
        shape_(kernel.shape),
        batch_(&batch),
        packet_bytes_(static_cast<std::size_t>(memory.parameters().packet_bytes.value) / 8 *
                      Lanes::bytes_per_word),
        inputs_(packet_bytes_ / Lanes::bytes_per_word * kernel.plan.mapping->inputs()),
        outputs_(packet_bytes_ / Lanes::bytes_per_word * kernel.plan.mapping->outputs()) {}

  void run() {
    const Geometry& geometry = batch_->geometry;
    for (std::size_t stripe = 0; stripe < batch_->stripe_count; ++stripe) {
      const std::byte* const* const from = batch_->inputs + stripe * (shape_.inputs / units());
      std::byte* const* const to = batch_->outputs + stripe * (shape_.outputs / units());
      for (std::size_t group = 0; group < geometry.group_count; ++group) {
        const std::size_t start = geometry.offset + group * geometry.group_stride;
        for (std::size_t at = 0; at < geometry.unit_bytes; at += packet_bytes_)
          run_packet(from, to, start + at, std::min(packet_bytes_, geometry.unit_bytes - at));
      }
    }
  }

 private:
  std::size_t units() const { return shape_.unit_count; }
  std::size_t offset_of(std::size_t unit) const {
    return unit % units() * batch_->geometry.unit_stride;
  }

  void run_packet(const std::byte* const* from, std::byte* const* to, std::size_t start,
                  std::size_t bytes) {
    constexpr std::size_t step = Lanes::bytes_per_word;
    const std::size_t words = divide_up(bytes, step);
    const std::size_t input_values = shape_.inputs * Lanes::values_per_unit;
    const std::size_t output_values = shape_.outputs * Lanes::values_per_unit;
    const std::span inputs = std::span(inputs_).first(words * input_values);
    const std::span outputs = std::span(outputs_).first(words * output_values);
    for (std::size_t w = 0; w < words; ++w) {
      const std::size_t part = std::min(step, bytes - w * step);
      for (std::size_t v = 0; v < shape_.inputs; ++v) {
        const std::byte* const place = from[v / units()] + start + offset_of(v) + w * step;
        Lanes::load({place, part}, &inputs[w * input_values + v * Lanes::values_per_unit]);
      }
    }
    memory_->multiply(inputs, outputs, bytes * 64 / step);
    for (std::size_t w = 0; w < words; ++w) {
      const std::size_t part = std::min(step, bytes - w * step);
      for (std::size_t v = 0; v < shape_.outputs; ++v) {
        std::byte* const place = to[v / units()] + start + offset_of(v) + w * step;
        Lanes::store(&outputs[w * output_values + v * Lanes::values_per_unit], {place, part},
                     batch_->accumulate);
      }
    }
  }

  calpe::reram::ReramMemory* memory_;
  ir::Program::Shape shape_;
  const Batch* batch_;
  std::size_t packet_bytes_;  // of a unit, per call of the memory
  std::vector<std::uint64_t> inputs_;
  std::vector<std::uint64_t> outputs_;
};

struct Run {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// Contiguous parts of a shard that the geometry covers, merged so that rows are filled.
std::vector<Run> covered_runs(const Geometry& geometry, std::size_t unit_count) {
  std::vector<Run> runs;
  for (std::size_t group = 0; group < geometry.group_count; ++group) {
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      const std::size_t offset =
          geometry.offset + group * geometry.group_stride + unit * geometry.unit_stride;
      if (!runs.empty() && runs.back().offset + runs.back().bytes == offset) {
        runs.back().bytes += geometry.unit_bytes;
      } else {
        runs.push_back({offset, geometry.unit_bytes});
      }
    }
  }
  return runs;
}

}  // namespace

void multiply_batch(calpe::reram::ReramMemory& memory, const ReramKernel& kernel,
                    const Batch& batch) {
  memory.map(kernel.plan.mapping);
  if (kernel.shape.dialect == ir::Dialect::gf) {
    PacketRunner<SymbolLanes>(memory, kernel, batch).run();
  } else {
    PacketRunner<UnitLanes>(memory, kernel, batch).run();
  }
}

void sum_batch(calpe::reram::ReramMemory& memory, const ReramKernel& kernel, const Batch& batch) {
  const std::size_t row_bytes = static_cast<std::size_t>(memory.parameters().columns.value) / 8;
  const std::size_t input_shards = kernel.shape.inputs / kernel.shape.unit_count;
  const std::vector<Run> runs = covered_runs(batch.geometry, kernel.shape.unit_count);
  std::vector<const std::byte*> blocks(input_shards);
  std::vector<std::byte> sum(row_bytes);
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    for (const Run& run : runs) {
      for (std::size_t at = 0; at < run.bytes; at += row_bytes) {
        const std::size_t bytes = std::min(row_bytes, run.bytes - at);
        for (std::size_t s = 0; s < input_shards; ++s)
          blocks[s] = batch.inputs[stripe * input_shards + s] + run.offset + at;
        memory.add_blocks(blocks, std::span(sum).first(bytes));
        put({batch.outputs[stripe] + run.offset + at, bytes}, sum, batch.accumulate);
      }
    }
  }
}

}  // namespace calpe::backend::reram
