// SPDX-License-Identifier: Apache-2.0
// Tags: linear hashes of shards, alone or together with encode.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "backend/cpu/path_choice.hpp"
#include "backend/streaming.hpp"
#include "base/allocation_guard.hpp"
#include "base/cpu_features.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/device_copy.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/stripe_check.hpp"

namespace calpe {

namespace {

using backend::cpu::Tagger;
using backend::cpu::TagState;
static_assert(tag_bytes == backend::cpu::tag_bytes);

constexpr engine::StripeNames encode_names = {.inputs = "data", .outputs = "parity"};

// A block of all shards stays in the core's own cache between coding and tagging. Blocks for L1
// are slower: each is too short for the prefetchers, and reads and writes the states of the tags.
constexpr std::size_t stripe_block_bytes_max = 256 * 1024;
constexpr std::size_t block_bytes_min = 2 * Tagger::step_bytes;

// Threads are worth waking for this much.
constexpr std::size_t threaded_bytes_min = 256 * 1024;

Status check_tags(std::span<const std::byte> tags, std::size_t shards) {
  if (tags.size() == shards * tag_bytes) return Done{};
  return invalid("tags has ", tags.size(), " bytes; expected ", shards * tag_bytes, ", ", tag_bytes,
                 " for each of ", shards, " shards");
}

}  // namespace

Status Codec::Impl::make_tagger() {
  if (spec().layout != Layout::bytes || spec().word_bits != 8) return Done{};
  const backend::cpu::CpuKernels* kernels = device->cpu_kernels();
  if (kernels == nullptr) {
    CALPE_TRY(kernels, backend::cpu::choose_kernels());
  }
  tagger.emplace(*code.field, *kernels);
  return Done{};
}

Result<const Tagger*> Codec::Impl::find_tagger(const Impl* impl, std::span<const ConstShard> shards,
                                               const char* name) {
  if (impl == nullptr) return moved_from();
  if (!impl->tagger) {
    return invalid("tags are not defined for this code; expected layout bytes with word_bits 8");
  }
  const backend::DeviceMemory* const memory = engine::far_memory(*impl->device);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].size() > engine::shard_bytes_max) {
      return invalid(name, "[", i, "] has ", shards[i].size(), " bytes; expected at most ",
                     engine::shard_bytes_max);
    }
    if (memory != nullptr && memory->holds(shards[i].data())) {
      return invalid(name, "[", i, "] is in device memory; expected host memory");
    }
  }
  return &*impl->tagger;
}

void Codec::Impl::tag_all(std::span<const ConstShard> shards, std::byte* tags) const {
  std::size_t bytes = 0;
  for (const ConstShard& shard : shards)
    bytes += std::min(shard.size(), threaded_bytes_min);
  if (pool == nullptr || bytes < threaded_bytes_min) return tagger->tag(shards, tags);
  pool->run(shards.size(),
            [&](std::size_t i) { tagger->tag(shards.subspan(i, 1), tags + i * tag_bytes); });
}

Status Codec::tag(std::span<const ConstShard> shards, std::span<std::byte> tags) const {
  return guarded([&]() -> Status {
    CALPE_CHECK(Impl::find_tagger(impl_.get(), shards, "shards"));
    CALPE_CHECK(check_tags(tags, shards.size()));
    const Shard output = tags;
    CALPE_CHECK(engine::check_overlap(shards, {&output, 1}, {"shards", "tags"}));
    impl_->tag_all(shards, tags.data());
    return Done{};
  });
}

Status Codec::Impl::encode_and_tag(const engine::StripeArrays& stripe, std::size_t shard_bytes,
                                   RunOptions options, std::byte* tags) const {
  const Plan::Impl& plan = *encode_plan->impl_;
  const std::size_t k = code.data_shards();
  backend::Batch batch{.inputs = stripe.inputs.data(),
                       .outputs = stripe.outputs.data(),
                       .geometry = {.unit_bytes = shard_bytes},
                       .accumulate = options.accumulate,
                       .stores = options.stores};
  // Decided for the stripe, as no single block is large.
  const bool streams = backend::wants_streaming(batch, code.shards());
  batch.stores = streams ? Stores::streaming : Stores::cached;
  const std::size_t stripe_block = std::min(stripe_block_bytes_max, core_cache_bytes() / 4);
  const std::size_t block = std::max(
      block_bytes_min, stripe_block / code.shards() / Tagger::step_bytes * Tagger::step_bytes);
  std::vector<TagState> states(k);
  for (std::size_t begin = 0; begin < shard_bytes; begin += block) {
    batch.geometry = {.offset = begin, .unit_bytes = std::min(block, shard_bytes - begin)};
    CALPE_CHECK(plan.device->run(*plan.kernel, batch));
    for (std::size_t i = 0; i < k; ++i)
      tagger->take(states[i], stripe.inputs[i] + begin, batch.geometry.unit_bytes);
  }
  tagger->finish(states, tags);
  return Done{};
}

Status Codec::encode_tagged(std::span<const ConstShard> data, std::span<const Shard> parity,
                            std::span<std::byte> tags, RunOptions options) const {
  return guarded([&]() -> Status {
    CALPE_CHECK(Impl::find_tagger(impl_.get(), data, "data"));
    const std::size_t k = impl_->code.data_shards();
    const std::size_t m = impl_->code.parity_shards();
    CALPE_CHECK(check_tags(tags, k + m));
    if (options.accumulate) {
      return invalid(
          "accumulate is set; expected parity to be overwritten, as its tags are those "
          "of the data");
    }
    const Plan::Impl& plan = *impl_->encode_plan->impl_;
    engine::StripeArrays stripe;
    engine::ShardLengths lengths;
    CALPE_CHECK(engine::take_stripe(plan.shape(), {.inputs = data, .outputs = parity},
                                    stripe.inputs.data(), stripe.outputs.data(), lengths,
                                    encode_names));
    std::vector<ConstShard> others(data.begin(), data.end());
    others.insert(others.end(), parity.begin(), parity.end());
    const Shard output = tags;
    CALPE_CHECK(engine::check_overlap(others, {&output, 1}, {"shards", "tags"}));

    if (impl_->pool != nullptr || !plan.runs_on_caller) {
      CALPE_CHECK(encode(data, parity, options));
      impl_->tag_all(data, tags.data());
    } else {
      CALPE_CHECK(impl_->encode_and_tag(stripe, lengths.data, options, tags.data()));
    }
    std::vector<ConstShard> data_tags;
    std::vector<Shard> parity_tags;
    for (std::size_t i = 0; i < k + m; ++i) {
      const Shard tag = tags.subspan(i * tag_bytes, tag_bytes);
      if (i < k) {
        data_tags.push_back(tag);
      } else {
        parity_tags.push_back(tag);
      }
    }
    return encode(data_tags, parity_tags);
  });
}

}  // namespace calpe
