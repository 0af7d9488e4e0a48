// SPDX-License-Identifier: Apache-2.0
#include "engine/stripe_match.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "base/short_array.hpp"

namespace calpe::engine {

namespace {

// After a difference, no further block is compared.
constexpr std::size_t block_bytes = 64 * 1024;
// What is written to be compared stays in L1 together with what it is made from.
constexpr std::size_t written_bytes = 8 * 1024;
constexpr std::size_t line_bytes = 64;
// Each row has at least a line.
constexpr std::size_t least_bytes = byte_shard_count_max * line_bytes;

// Writes the shards to other memory, block by block, and compares.
std::optional<bool> writes_the_same(backend::Device& device, const Task& task,
                                    const std::byte* const* inputs, const std::byte* const* stored,
                                    std::size_t shard_bytes) {
  const std::size_t rows = task.writes.size();
  alignas(line_bytes) std::array<std::byte, std::max(written_bytes, least_bytes)> room;
  const std::size_t block = std::max(line_bytes, written_bytes / rows / line_bytes * line_bytes);
  CALPE_ASSERT(rows * block <= room.size());
  ShortArray<const std::byte*> from(task.reads.size());
  ShortArray<std::byte*> to(rows);
  for (std::size_t r = 0; r < rows; ++r)
    to[r] = room.data() + r * block;
  for (std::size_t begin = 0; begin < shard_bytes; begin += block) {
    const std::size_t count = std::min(block, shard_bytes - begin);
    for (std::size_t i = 0; i < task.reads.size(); ++i)
      from[i] = inputs[i] + begin;
    const Status done = device.run(*task.kernel, {.inputs = from.data(),
                                                  .outputs = to.data(),
                                                  .geometry = {.unit_bytes = count},
                                                  .stores = Stores::cached});
    if (!done) return std::nullopt;
    for (std::size_t r = 0; r < rows; ++r) {
      if (std::memcmp(to[r], stored[r] + begin, count) != 0) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<bool> matches(backend::Device& device, const Task& task,
                            const std::byte* const* inputs, const std::byte* const* stored,
                            std::size_t shard_bytes) {
  if (task.writes.empty() || shard_bytes == 0) return true;
  const backend::CompareCall compare = device.compare_call(*task.kernel);
  if (compare.run == nullptr) {
    if (!device.runs_on_caller() || device.memory() != nullptr) return std::nullopt;
    return writes_the_same(device, task, inputs, stored, shard_bytes);
  }
  for (std::size_t begin = 0; begin < shard_bytes; begin += block_bytes) {
    const std::size_t end = begin + std::min(block_bytes, shard_bytes - begin);
    if (!compare.run(compare.state, inputs, stored, begin, end)) return false;
  }
  return true;
}

}  // namespace calpe::engine
