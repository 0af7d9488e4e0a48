// SPDX-License-Identifier: Apache-2.0
// Implementation of Codec and Plan. Codec's members are spread over codec_*.cpp by topic.
#pragma once
#include <memory>

#include <calpe/codec.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/tagger.hpp"
#include "base/allocation_guard.hpp"
#include "base/bounded_cache.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "base/try.hpp"
#include "code/code.hpp"
#include "engine/codec_access.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/operand_names.hpp"
#include "engine/run/stripe_check.hpp"
#include "engine/update_plans.hpp"
#include "plan/decode_planner.hpp"
#include "plan/plan_key.hpp"
#include "plan/recipe.hpp"

namespace calpe {

struct Plan::Impl {
  plan::Recipe recipe;
  std::shared_ptr<const CodeSpec> spec;     // the codec's own: same pointer, same code
  std::shared_ptr<backend::Device> device;  // outlives the kernel
  backend::KernelRef kernel;
  bool runs_on_caller = true;  // as the device reported when the kernel was made
  bool has_few_shards = true;  // fit into StripeArrays
  // Ways around the executor for short shards; flat layouts only.
  backend::DirectCall overwriting = {};
  backend::DirectCall adding = {};

  const backend::DirectCall& direct_call(RunOptions options) const noexcept {
    static constexpr backend::DirectCall none;
    if (options.stores == Stores::streaming) return none;
    return options.accumulate ? adding : overwriting;
  }
  // Codes checked shards of `bytes` each, or returns false if they are too long for this way.
  bool call_directly(const engine::StripeArrays& stripe, std::size_t bytes,
                     RunOptions options) const noexcept {
    const backend::DirectCall& direct = direct_call(options);
    // The difference wraps around for empty shards, which may have no direct call.
    if (bytes - 1 >= direct.bytes_max) return false;
    direct.run(direct.state, stripe.inputs.data(), stripe.outputs.data(), bytes);
    return true;
  }
  bool run_directly(const Stripe& stripe, RunOptions options) const noexcept;
  // A longer batch may be split over threads, or bypass the caches.
  std::size_t direct_stripes_max(std::size_t shard_bytes) const noexcept {
    const std::size_t shards = recipe.reads.size() + recipe.writes.size();
    return direct_batch_bytes_max / std::max<std::size_t>(1, shards * shard_bytes);
  }
  bool is_short_batch(std::span<const Stripe> stripes) const noexcept {
    if (!has_few_shards || stripes.empty() || stripes.front().outputs.empty()) return false;
    const std::size_t bytes = stripes.front().outputs.front().size();
    return bytes <= direct_batch_bytes_max && stripes.size() <= direct_stripes_max(bytes);
  }
  static constexpr std::size_t direct_batch_bytes_max = 128 * 1024;

  // Entries of the plan cache that the plan takes, see CodecOptions.
  std::size_t cache_weight(std::size_t key_bytes) const noexcept;

  engine::Task task(RunOptions options = {}) const noexcept {
    return {.kernel = kernel.get(),
            .reads = recipe.reads,
            .writes = recipe.writes,
            .accumulate = options.accumulate,
            .stores = options.stores};
  }
  engine::StripeShape shape() const noexcept {
    return {.spec = *spec, .reads = recipe.reads, .writes = recipe.writes};
  }
};

// Returned by every call on a moved-from codec.
inline Error moved_from() {
  return invalid("the codec is empty: it was moved from; make one with create()");
}

struct Codec::Impl {
  Impl(code::Code made, std::shared_ptr<backend::Device> opened, const CodecOptions& options)
      : code(std::move(made)),
        shared_spec(std::make_shared<const CodeSpec>(code.spec)),
        device(std::move(opened)),
        planner(code),
        effort(options.effort),
        plans(options.plan_cache_entries),
        update_plans(code.data_shards()) {}

  code::Code code;
  std::shared_ptr<const CodeSpec> shared_spec;
  std::shared_ptr<backend::Device> device;
  std::shared_ptr<ThreadPool> pool;  // nullptr: use the caller's thread; pending work shares it
  plan::DecodePlanner planner;
  Effort effort;
  mutable BoundedCache<std::shared_ptr<const Plan::Impl>> plans;
  mutable engine::UpdatePlans<Plan::Impl> update_plans;
  std::optional<Plan> encode_plan;
  std::optional<backend::cpu::Tagger> tagger;  // none: this codec has no tags

  static Result<Codec> create(code::Code code, const CodecOptions& options);
  const CodeSpec& spec() const noexcept { return code.spec; }
  // `impl` is nullptr when the codec was moved from.
  static bool is_own(const Impl* impl, const Plan& plan) noexcept {
    return impl != nullptr && plan.impl_ != nullptr && plan.impl_->spec == impl->shared_spec;
  }
  static Status check_plan(const Impl* impl, const Plan& plan);
  static Result<CodecAccess::PlanParts> plan_parts(const Impl* impl, const Plan& plan) {
    CALPE_CHECK(check_plan(impl, plan));
    return CodecAccess::PlanParts{.owner = plan.impl_,
                                  .device = plan.impl_->device.get(),
                                  .kernel = plan.impl_->kernel.get(),
                                  .reads = plan.impl_->recipe.reads.size(),
                                  .writes = plan.impl_->recipe.writes.size()};
  }
  // Implements run(), encode() and decode(), which differ in the names of their shards. Inlined: a
  // call would copy all operands. A template, so that each has its own lambda, which is inlined
  // too.
  template <const engine::StripeNames& names>
  [[gnu::always_inline]] static Status run_stripe(const Codec& codec, const Plan& plan,
                                                  std::span<const ConstShard> inputs,
                                                  std::span<const Shard> outputs,
                                                  RunOptions options) {
    engine::StripeArrays stripe;
    if (is_own(codec.impl_.get(), plan) && plan.impl_->has_few_shards &&
        engine::take_usual(plan.impl_->shape(), inputs, outputs, stripe.inputs.data(),
                           stripe.outputs.data())) {
      const Plan::Impl& own = *plan.impl_;
      const std::size_t bytes = outputs.front().size();
      if (own.call_directly(stripe, bytes, options)) return Done{};
      const engine::Task task = own.task(options);
      const backend::Batch batch = engine::plain_batch(*own.spec, task, stripe, bytes);
      return guarded([&] { return codec.impl_->executor(own).run_plain(task, batch); });
    }
    const Stripe unusual{.inputs = inputs, .outputs = outputs};
    return run_stripes(codec, plan, {&unusual, 1}, options, names);
  }
  // Implements run_batch(). Numbers the stripes from names.stripe, unless it is no_index.
  static Status run_stripes(const Codec& codec, const Plan& plan, std::span<const Stripe> stripes,
                            RunOptions options, engine::StripeNames names);
  static Result<Pending> submit_stripes(const Codec& codec, const Plan& plan,
                                        std::span<const Stripe> stripes, RunOptions options,
                                        engine::StripeNames names);
  // Checks all k + m shards except the missing ones. `data` and `parity` are one list of all shards
  // if they have the same name.
  Result<engine::ShardLengths> check_whole_stripe(std::span<const ConstShard> shards,
                                                  std::span<const ShardIndex> missing,
                                                  const char* data, const char* parity) const;
  bool is_intact(const Plan::Impl& plan, std::span<const ConstShard> data,
                 std::span<const ConstShard> parity) const;
  // verify() of shards that is_intact() does not accept; their number is right.
  Result<std::vector<ShardIndex>> wrong_parity(const Plan::Impl& plan,
                                               std::span<const ConstShard> data,
                                               std::span<const ConstShard> parity) const;
  Result<std::shared_ptr<const Plan::Impl>> compile(plan::Recipe recipe) const;

  Status make_tagger();
  // Fails for codes without tags, and for shards that the CPU cannot read. `name` is what the
  // caller calls them.
  static Result<const backend::cpu::Tagger*> find_tagger(const Impl* impl,
                                                         std::span<const ConstShard> shards,
                                                         const char* name);
  void tag_all(std::span<const ConstShard> shards, std::byte* tags) const;
  // Codes and tags a stripe block by block.
  Status encode_and_tag(const engine::StripeArrays& stripe, std::size_t shard_bytes,
                        RunOptions options, std::byte* tags) const;

  // Returns the plan cached under `key`, or compiles the recipe that `make` returns. Failures are
  // not cached.
  template <class Make>
  Result<std::shared_ptr<const Plan::Impl>> cached(const plan::PlanKey& key,
                                                   const Make& make) const {
    if (auto found = plans.find(key.view())) return *std::move(found);
    CALPE_TRY(plan::Recipe recipe, make());
    CALPE_TRY(auto plan, compile(std::move(recipe)));
    plans.insert(std::string(key.view()), plan, plan->cache_weight(key.view().size()));
    return plan;
  }
  // The change of the data shard is the sum of `addends` inputs (1 or 2).
  Result<std::shared_ptr<const Plan::Impl>> update_plan(ShardIndex data_index,
                                                        std::span<const ShardIndex> parity,
                                                        std::size_t addends,
                                                        const char* parity_name) const;
  // Implements Codec::update. The change is the sum of `addends`, which have the same length.
  Status update(const Change& change, std::span<const ConstShard> addends,
                std::span<const Shard> parity) const;
  Status update_checked(const Change& change, std::span<const ConstShard> addends,
                        std::span<const Shard> parity) const;
  engine::Executor executor(const Plan::Impl& plan) const noexcept {
    return {code.spec, *plan.device, pool.get()};
  }
};

}  // namespace calpe
