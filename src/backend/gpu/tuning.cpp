// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <vector>

#include "backend/gpu/job.hpp"
#include "backend/gpu/variant_build.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::backend::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t inputs = 6;
constexpr std::size_t outputs = 3;
constexpr std::size_t shard_bytes = std::size_t{256} << 10U;
constexpr int rounds = 12;
// The machine may be busy, so a later candidate must be faster by this factor.
constexpr double gain_min = 1.1;

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

struct Candidate {
  Tuning tuning = {};
  std::shared_ptr<GpuKernel> kernel = {};
  std::unique_ptr<Variant> variant = {};
  double seconds = 1e9;  // best round
};

// nullopt if the device refuses it.
std::optional<Candidate> prepare(Core& core, const Task& task, const Tuning& tuning) {
  core.tuning = tuning;
  // Whole words only, so no table kernel is needed.
  Result<std::shared_ptr<GpuKernel>> kernel = GpuKernel::make_with_tables(core, task, {});
  if (!kernel) return std::nullopt;
  auto variant = std::make_unique<Variant>(VariantKey{});
  build_variant(core, **kernel, *variant);
  if (variant->state != VariantState::ready) return std::nullopt;
  return Candidate{.tuning = tuning, .kernel = *std::move(kernel), .variant = std::move(variant)};
}

// Interleaves rounds, so that a disturbance affects all candidates.
void measure(Core& core, std::vector<Candidate>& candidates) {
  std::vector<std::byte> memory((inputs + outputs) * shard_bytes);
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (std::size_t i = 0; i < inputs; ++i)
    sources.push_back(memory.data() + i * shard_bytes);
  for (std::size_t i = 0; i < outputs; ++i)
    targets.push_back(memory.data() + (inputs + i) * shard_bytes);
  const Batch batch = {
      .inputs = sources.data(), .outputs = targets.data(), .geometry = {.unit_bytes = shard_bytes}};
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      const Clock::time_point start = Clock::now();
      const Status done = submit(core, *candidate.kernel, batch, candidate.variant.get()).wait();
      if (core.is_lost) {
        keep_for_good(std::move(memory));
        return;
      }
      const std::chrono::duration<double> took = Clock::now() - start;
      if (done) candidate.seconds = std::min(candidate.seconds, took.count());
    }
  }
}

// The best candidate, with a preference for earlier ones.
std::optional<Tuning> best_of(Core& core, const Task& task, const std::vector<Tuning>& tunings) {
  std::vector<Candidate> candidates;
  for (const Tuning& tuning : tunings) {
    if (std::optional<Candidate> candidate = prepare(core, task, tuning)) {
      candidates.push_back(*std::move(candidate));
    }
  }
  if (candidates.empty()) return std::nullopt;
  measure(core, candidates);
  const Candidate* best = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (candidate.seconds * gain_min < best->seconds) best = &candidate;
  }
  return best->tuning;
}

}  // namespace

Result<Tuning> find_tuning(Core& core) {
  const DriverInfo& info = core.info();
  const Tuning first = {.word_bytes = info.word_bytes.front(),
                        .group_items = info.group_items.front()};
  if (const std::optional<Tuning> known = recall(core)) return *known;
  if (!core.options.tunes || core.options.table_only) return first;
  CALPE_TRY(const Task task, sample_task());
  // First the word, then the group size: they hardly interact.
  std::vector<Tuning> tunings;
  for (const std::size_t word : info.word_bytes)
    tunings.push_back({.word_bytes = word, .group_items = first.group_items});
  std::optional<Tuning> best = best_of(core, task, tunings);
  if (!best) return first;
  tunings.clear();
  for (const unsigned items : info.group_items)
    tunings.push_back({.word_bytes = best->word_bytes, .group_items = items});
  best = best_of(core, task, tunings).value_or(*best);
  if (core.disk) {
    static_cast<void>(core.disk->put(key(core), text(best->word_bytes, " ", best->group_items)));
  }
  return *best;
}

}  // namespace calpe::backend::gpu
