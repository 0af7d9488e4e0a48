// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <vector>

#include "backend/gpu/job.hpp"
#include "backend/gpu/variant_build.hpp"
#include "base/keep_for_good.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel/identity.hpp"

namespace calpe::backend::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t inputs = 6;
constexpr std::size_t outputs = 3;
constexpr std::size_t shard_bytes = std::size_t{256} << 10U;
constexpr int rounds = 5;

std::string key(const Core& core) {
  return kernel::content({.target = "tuning",
                          .compiler = core.info().identity,
                          .flags = {core.info().shares_memory ? "shared" : "copied"},
                          .source = "6+3 of 256 KiB, version 1"});
}

std::optional<Tuning> recall(const Core& core) {
  const std::optional<std::string> object = core.disk ? core.disk->find(key(core)) : std::nullopt;
  if (!object) return std::nullopt;
  std::istringstream numbers(*object);
  Tuning tuning;
  numbers >> tuning.word_bytes >> tuning.group_items;
  const DriverInfo& info = core.info();
  const bool is_known =
      std::ranges::find(info.word_bytes, tuning.word_bytes) != info.word_bytes.end() &&
      std::ranges::find(info.group_items, tuning.group_items) != info.group_items.end();
  return is_known ? std::optional(tuning) : std::nullopt;
}

Result<Task> sample_task() {
  CALPE_TRY(gf::FieldRef field, gf::Field::create(8, 0));
  gf::Matrix rows(outputs, inputs);
  for (std::size_t r = 0; r < outputs; ++r) {
    for (std::size_t c = 0; c < inputs; ++c)
      rows(r, c) = field->inverse(static_cast<gf::Element>((inputs + r) ^ c));
  }
  return Task{.shape = {.input_shards = inputs, .output_shards = outputs},
              .style = emit::TableStyle::planes,
              .field = std::move(field),
              .rows = std::move(rows)};
}

// Seconds of the best round with core.tuning.
Result<double> measure(Core& core, const Task& task) {
  // Whole words only, so no table kernel is needed.
  CALPE_TRY(const std::shared_ptr<GpuKernel> kernel, GpuKernel::make_with_tables(core, task, {}));
  Variant variant({});
  build_variant(core, *kernel, variant);
  if (variant.state != VariantState::ready) {
    return make_error(ErrorCode::compile_failed, variant.reason);
  }
  std::vector<std::byte> memory((inputs + outputs) * shard_bytes);
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (std::size_t i = 0; i < inputs; ++i)
    sources.push_back(memory.data() + i * shard_bytes);
  for (std::size_t i = 0; i < outputs; ++i)
    targets.push_back(memory.data() + (inputs + i) * shard_bytes);
  const Batch batch = {
      .inputs = sources.data(), .outputs = targets.data(), .geometry = {.unit_bytes = shard_bytes}};
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point start = Clock::now();
    if (Status done = submit(core, *kernel, batch, &variant).wait(); !done) {
      if (core.is_lost) keep_for_good(std::move(memory));
      return std::move(done).error();
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

Result<Tuning> find_tuning(Core& core) {
  const DriverInfo& info = core.info();
  const Tuning first = {.word_bytes = info.word_bytes.front(),
                        .group_items = info.group_items.front()};
  if (const std::optional<Tuning> known = recall(core)) return *known;
  if (!core.options.tunes || core.options.table_only) return first;
  CALPE_TRY(const Task task, sample_task());
  std::optional<Tuning> best;
  double best_seconds = 0;
  const auto consider = [&](const Tuning& candidate) {
    core.tuning = candidate;
    const Result<double> seconds = measure(core, task);
    if (!seconds || (best && *seconds >= best_seconds)) return;
    best = candidate;
    best_seconds = *seconds;
  };
  // The word first, then the group for it: their effects hardly mix.
  for (const std::size_t word : info.word_bytes)
    consider({.word_bytes = word, .group_items = first.group_items});
  if (best) {
    for (const unsigned items : std::span(info.group_items).subspan(1))
      consider({.word_bytes = best->word_bytes, .group_items = items});
  }
  if (!best) return first;
  if (core.disk) {
    static_cast<void>(core.disk->put(key(core), text(best->word_bytes, " ", best->group_items)));
  }
  return *best;
}

}  // namespace calpe::backend::gpu
