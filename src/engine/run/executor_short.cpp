// SPDX-License-Identifier: Apache-2.0
// Shards that end early, as the last data shards of an object do. Where every shard has its bytes,
// the work is done in place. Behind the end of some, a flat layout reads a block of zeros instead,
// and others go through the staging area, which fills up with zeros.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/staging.hpp"

namespace calpe::engine {

namespace {

// An object lacks fewer than k bytes unless the caller chose longer shards.
struct alignas(64) ZeroBlock : std::array<std::byte, 4096> {};
constexpr ZeroBlock zeros = {};

}  // namespace

// Advances `offset` until all outputs have ended. `unwanted` receives the bytes behind the end of
// outputs; without it, the work stops where the first one ends.
Status Executor::run_short_bytes(const Task& task, std::span<const ConstShard> inputs,
                                 std::span<const Shard> outputs, std::size_t shard_bytes,
                                 std::size_t& offset, std::byte* unwanted) const {
  ShortArray<const std::byte*> in(inputs.size());
  ShortArray<std::byte*> out(outputs.size());
  while (offset < shard_bytes) {
    // Every shard either has all bytes of the run or none.
    std::size_t run = shard_bytes - offset;
    for (const ConstShard& input : inputs)
      run = std::min(run, input.size() > offset ? input.size() - offset : zeros.size());
    std::size_t ended = 0;
    for (const Shard& output : outputs) {
      if (output.size() > offset) {
        run = std::min(run, output.size() - offset);
      } else {
        ++ended;
      }
    }
    if (ended == outputs.size() || (ended > 0 && unwanted == nullptr)) break;
    if (ended > 0) {
      run = std::min(run, Staging::bytes / ended);
      if (task.accumulate) std::memset(unwanted, 0, ended * run);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      in[i] = inputs[i].size() > offset ? inputs[i].data() + offset : zeros.data();
    std::byte* next = unwanted;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool has_ended = outputs[i].size() <= offset;
      out[i] = has_ended ? next : outputs[i].data() + offset;
      if (has_ended) next += run;
    }
    CALPE_CHECK(submit(task, 1, {.inputs = in.data(), .outputs = out.data()},
                       backend::Geometry{.unit_bytes = run}));
    offset += run;
  }
  return Done{};
}

Status Executor::run_short_groups(const Task& task, std::span<const ConstShard> inputs,
                                  std::span<const Shard> outputs, std::size_t shard_bytes) const {
  std::size_t common = shard_bytes;
  for (const ConstShard& input : inputs)
    common = std::min(common, input.size());
  for (const Shard& output : outputs)
    common = std::min(common, output.size());
  common -= common % group_bytes(spec_);  // groups can be coded alone
  ShortArray<const std::byte*> in(inputs.size());
  ShortArray<std::byte*> out(outputs.size());
  std::ranges::transform(inputs, in.begin(), [](ConstShard shard) { return shard.data(); });
  std::ranges::transform(outputs, out.begin(), [](Shard shard) { return shard.data(); });
  CALPE_CHECK(
      submit(task, 1, {.inputs = in.data(), .outputs = out.data()}, whole_groups(spec_, common)));
  if (common == shard_bytes) return Done{};
  ShortArray<ConstShard> input_rest(inputs.size());
  ShortArray<Shard> output_rest(outputs.size());
  ShortArray<ConstShardPieces> input_pieces(inputs.size());
  ShortArray<ShardPieces> output_pieces(outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_rest[i] = inputs[i].subspan(common);
    input_pieces[i] = {&input_rest[i], 1};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    output_rest[i] = outputs[i].subspan(common);
    output_pieces[i] = {&output_rest[i], 1};
  }
  return run_pieces(
      task, input_pieces, output_pieces,
      {.data = shard_bytes - common, .parity = parity_length(spec_, shard_bytes - common)});
}

Status Executor::run_short(const Task& task, std::span<const ConstShard> inputs,
                           std::span<const Shard> outputs, ShardLengths lengths) const {
  if (!is_flat(spec_)) {
    return run_short_groups(task, inputs, outputs, lengths.data);
  }
  std::size_t offset = 0;
  CALPE_CHECK(run_short_bytes(task, inputs, outputs, lengths.data, offset, nullptr));
  const auto is_longer = [&](const Shard& output) { return output.size() > offset; };
  if (std::ranges::none_of(outputs, is_longer)) return Done{};
  Staging unwanted(device_);
  return run_short_bytes(task, inputs, outputs, lengths.data, offset, unwanted.data());
}

}  // namespace calpe::engine
