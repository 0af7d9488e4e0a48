// SPDX-License-Identifier: Apache-2.0
// Asynchronous work: all stripes of one length are one batch for the device, or for the codec's
// threads.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/pool_work.hpp"

namespace calpe {

struct Pending::Impl {
  std::shared_ptr<const void> plan;  // keeps the kernel and the device alive
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  // Both are destroyed (and so waited for) before the above.
  std::vector<backend::Completion> under_way;
  std::optional<engine::PoolWork> on_pool;
  Status result = Done{};  // of the device; valid when nothing is under way

  Status wait() {
    if (on_pool) return on_pool->wait();
    for (backend::Completion& completion : std::exchange(under_way, {})) {
      Status done = guarded([&] { return completion.wait(); });
      if (result) result = std::move(done);
    }
    return result;
  }
};

Pending::Pending(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Pending::Pending(Pending&&) noexcept = default;
Pending& Pending::operator=(Pending&&) noexcept = default;
Pending::~Pending() = default;

Status Pending::wait() {
  if (impl_ == nullptr) return Done{};
  return guarded([&] { return impl_->wait(); });
}

Result<Pending> Codec::submit(const Plan& plan, std::span<const Stripe> stripes,
                              RunOptions options) const {
  return Impl::submit_stripes(*this, plan, stripes, options, {.stripe = 0});
}

Result<Pending> Codec::Impl::submit_stripes(const Codec& codec, const Plan& plan,
                                            std::span<const Stripe> stripes, RunOptions options,
                                            engine::StripeNames names) {
  return guarded([&]() -> Result<Pending> {
    CALPE_CHECK(check_plan(codec.impl_.get(), plan));
    const bool is_on_pool = plan.impl_->runs_on_caller && codec.threads() > 1;
    if (plan.impl_->runs_on_caller && !is_on_pool) {
      CALPE_CHECK(run_stripes(codec, plan, stripes, options, names));
      return Pending(nullptr);
    }
    std::vector<engine::ShardLengths> lengths(stripes.size());
    ShortArray<const std::byte*> inputs(plan.impl_->recipe.reads.size());
    ShortArray<std::byte*> outputs(plan.impl_->recipe.writes.size());
    for (std::size_t i = 0; i < stripes.size(); ++i) {
      CALPE_CHECK(engine::take_stripe(plan.impl_->shape(), stripes[i], inputs.data(),
                                      outputs.data(), lengths[i], names));
      if (names.stripe != engine::no_index) ++names.stripe;
    }
    std::vector<std::size_t> order(stripes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lengths[i].data; });

    const engine::Task task = plan.impl_->task(options);
    auto work = std::make_unique<Pending::Impl>();
    work->plan = plan.impl_;
    work->inputs.reserve(stripes.size() * task.reads.size());
    work->outputs.reserve(stripes.size() * task.writes.size());
    for (const std::size_t i : order) {
      for (const ConstShard& shard : stripes[i].inputs)
        work->inputs.push_back(shard.data());
      for (const Shard& shard : stripes[i].outputs)
        work->outputs.push_back(shard.data());
    }
    const engine::Executor executor = codec.impl_->executor(*plan.impl_);
    if (is_on_pool) {
      const engine::Executor alone(*plan.impl_->spec, *plan.impl_->device, nullptr);
      work->on_pool.emplace(codec.impl_->pool, alone, task);
    }
    for (std::size_t begin = 0; begin < order.size();) {
      const engine::ShardLengths each = lengths[order[begin]];
      std::size_t end = begin + 1;
      while (end < order.size() && lengths[order[end]].data == each.data)
        ++end;
      const engine::StripePointers first = {
          .inputs = work->inputs.data() + begin * task.reads.size(),
          .outputs = work->outputs.data() + begin * task.writes.size(),
          .lengths = each};
      if (is_on_pool) {
        work->on_pool->add(end - begin, first);
      } else {
        CALPE_CHECK(executor.start_equal(task, end - begin, first, work->under_way));
      }
      begin = end;
    }
    if (is_on_pool) work->on_pool->start();
    return Pending(std::move(work));
  });
}

}  // namespace calpe
