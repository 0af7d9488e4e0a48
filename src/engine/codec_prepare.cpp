// SPDX-License-Identifier: Apache-2.0
// Plans for shards of one length: everything that depends on the length alone is done once.

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"

namespace calpe {

struct PreparedPlan::Impl {
  std::shared_ptr<const Codec::Impl> codec;  // keeps the pool
  std::shared_ptr<const Plan::Impl> plan;    // keeps the kernel and the device
  engine::ShardLengths lengths;
  RunOptions options;
  backend::DirectCall direct;
  std::size_t direct_stripes_max = 0;

  Status run(std::size_t stripe_count, const std::byte* const* inputs,
             std::byte* const* outputs) const {
    const plan::Recipe& recipe = plan->recipe;
    if (direct.run != nullptr && stripe_count <= direct_stripes_max) {
      for (std::size_t stripe = 0; stripe < stripe_count; ++stripe) {
        direct.run(direct.state, inputs + stripe * recipe.reads.size(),
                   outputs + stripe * recipe.writes.size(), lengths.data);
      }
      return Done{};
    }
    return guarded([&] {
      return codec->executor(*plan).run_equal(
          plan->task(options), stripe_count,
          {.inputs = inputs, .outputs = outputs, .lengths = lengths});
    });
  }
};

PreparedPlan::PreparedPlan(std::shared_ptr<const Impl> impl) noexcept
    : impl_(std::move(impl)),
      function_(impl_->direct.run),
      state_(impl_->direct.state),
      shard_bytes_(impl_->lengths.data) {}

Status PreparedPlan::run_batch(std::size_t stripe_count, const std::byte* const* inputs,
                               std::byte* const* outputs) const {
  if (impl_ == nullptr) return invalid("the prepared plan is empty; make one with prepare()");
  return impl_->run(stripe_count, inputs, outputs);
}

Status PreparedPlan::run_strided(std::size_t stripe_count, const StridedInputs& inputs,
                                 const StridedOutputs& outputs) const {
  if (impl_ == nullptr) return invalid("the prepared plan is empty; make one with prepare()");
  const std::size_t reads = impl_->plan->recipe.reads.size();
  const std::size_t writes = impl_->plan->recipe.writes.size();
  return guarded([&]() -> Status {
    ShortArray<const std::byte*> from(reads);
    ShortArray<std::byte*> to(writes);
    for (std::size_t s = 0; s < stripe_count; ++s) {
      for (std::size_t i = 0; i < reads; ++i)
        from[i] = inputs.base + s * inputs.stripe_stride + i * inputs.shard_stride;
      for (std::size_t i = 0; i < writes; ++i)
        to[i] = outputs.base + s * outputs.stripe_stride + i * outputs.shard_stride;
      CALPE_CHECK(impl_->run(1, from.data(), to.data()));
    }
    return Done{};
  });
}

Result<PreparedPlan> Codec::prepare(const Plan& plan, std::size_t shard_bytes,
                                    RunOptions options) const {
  return guarded([&]() -> Result<PreparedPlan> {
    CALPE_CHECK(Impl::check_plan(impl_.get(), plan));
    engine::LengthCheck check(spec());
    CALPE_CHECK(check.see(0, shard_bytes, {.list = {"shard_bytes"}}));
    CALPE_TRY(const engine::ShardLengths lengths, check.finish());
    auto prepared = std::make_shared<PreparedPlan::Impl>();
    prepared->codec = impl_;
    prepared->plan = plan.impl_;
    prepared->lengths = lengths;
    prepared->options = options;
    if (const backend::DirectCall& direct = plan.impl_->direct_call(options);
        direct.run != nullptr && shard_bytes <= direct.bytes_max) {
      prepared->direct = direct;
      prepared->direct_stripes_max = plan.impl_->direct_stripes_max(shard_bytes);
    }
    return PreparedPlan(std::move(prepared));
  });
}

}  // namespace calpe
