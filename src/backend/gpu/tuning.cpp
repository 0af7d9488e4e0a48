// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/tuning.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <sstream>
#include <vector>

#include "backend/gpu/fence.hpp"
#include "backend/gpu/job.hpp"
#include "backend/gpu/lost_work.hpp"
#include "backend/gpu/variant_build.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::backend::gpu {

namespace {

constexpr std::size_t inputs = 6;
constexpr std::size_t outputs = 3;
constexpr std::size_t shard_bytes_least = std::size_t{256} << 10U;
constexpr std::size_t shard_bytes_most = std::size_t{16} << 20U;
constexpr double seconds_least = 200e-6;
constexpr int rounds = 12;
// The machine may be busy, so a later candidate must be faster by this factor.
constexpr double gain_min = 1.1;

std::string key(const Core& core) {
  return kernel::content({.target = "tuning",
                          .compiler = core.info().identity,
                          .flags = {core.info().shares_memory ? "shared" : "copied"},
                          .source = "6+3 in place, version 2"});
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

// Shards where kernels access them directly: the times of copies would hide those of kernels.
class Sample {
 public:
  explicit Sample(Core& core) : core_(core) {}
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  ~Sample() {
    if (core_.is_lost) {
      keep_for_good(std::move(host_));
      keep_for_good(std::move(slots_));
    } else if (device_ != nullptr) {
      core_.memory.release(device_);
    }
  }

  Status resize(std::size_t shard_bytes) {
    const std::size_t bytes = (inputs + outputs) * shard_bytes;
    if (core_.info().shares_memory) {
      host_.resize(bytes);
    } else {
      CALPE_TRY(std::byte* const made, core_.memory.allocate(bytes));
      if (device_ != nullptr) core_.memory.release(device_);
      device_ = made;
    }
    shard_bytes_ = shard_bytes;
    return Done{};
  }

  // Seconds of the kernel, as the device measures them.
  Result<double> run(const Candidate& candidate) {
    std::byte* const start = core_.info().shares_memory ? host_.data() : device_;
    std::array<const std::byte*, inputs> sources = {};
    std::array<std::byte*, outputs> targets = {};
    for (std::size_t i = 0; i < inputs; ++i)
      sources[i] = start + i * shard_bytes_;
    for (std::size_t i = 0; i < outputs; ++i)
      targets[i] = start + (inputs + i) * shard_bytes_;
    const Batch batch = {.inputs = sources.data(),
                         .outputs = targets.data(),
                         .geometry = {.unit_bytes = shard_bytes_}};
    CALPE_TRY(std::unique_ptr<Slot> slot, slots_->take());
    const Status begun =
        enqueue_direct(core_, *slot, *candidate.kernel, batch, candidate.variant.get());
    BegunEvent event = begun ? slot->queue().mark() : BegunEvent(begun.error());
    const Deadline end = std::chrono::steady_clock::now() + core_.options.time_limit;
    const Status done = event ? (*event)->wait(time_until(end)) : Status(event.error());
    if (!done) {
      if (!is_over(slot->queue(), event, end)) {
        core_.is_lost.store(true, std::memory_order_release);
        keep_lost_work(std::move(slot), std::move(event));
      }
      return done.error();
    }
    CALPE_TRY(const PhaseSeconds seconds, slot->queue().take_seconds());
    slots_->give_back(std::move(slot));
    return seconds.kernel;
  }

 private:
  Core& core_;
  std::vector<std::byte> host_;
  std::byte* device_ = nullptr;
  std::size_t shard_bytes_ = 0;
  std::unique_ptr<Slots> slots_ = std::make_unique<Slots>(*core_.driver, true);
};

// Interleaves rounds, so that a disturbance affects all candidates.
void measure(Core& core, std::vector<Candidate>& candidates) {
  Sample sample(core);
  if (!sample.resize(shard_bytes_least)) return;
  // Fast devices need more work, or their kernels only start and end.
  for (std::size_t bytes = 2 * shard_bytes_least; bytes <= shard_bytes_most; bytes *= 2) {
    const Result<double> seconds = sample.run(candidates.front());
    if (!seconds || *seconds >= seconds_least || !sample.resize(bytes)) break;
  }
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      const Result<double> seconds = sample.run(candidate);
      if (core.is_lost) return;
      if (seconds) candidate.seconds = std::min(candidate.seconds, *seconds);
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
