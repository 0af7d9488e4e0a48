// SPDX-License-Identifier: Apache-2.0
// Applying plans: check every operand once, then hand pointers to the executor.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <calpe/matrix_product.hpp>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/regions.hpp"
#include "engine/run/stripe_check.hpp"

namespace calpe {

namespace {

constexpr engine::StripeNames run_names;
constexpr engine::StripeNames encode_names = {.inputs = "data", .outputs = "parity"};
constexpr engine::StripeNames decode_names = {.inputs = "survivors", .outputs = "rebuilt"};

}  // namespace

std::size_t Codec::shard_bytes_multiple() const noexcept {
  return impl_ ? engine::length_multiple(impl_->spec()) : 1;
}

std::size_t Codec::parity_bytes(std::size_t shard_bytes) const noexcept {
  return impl_ ? engine::parity_length(impl_->spec(), shard_bytes) : shard_bytes;
}

ByteRange Codec::codable_range(ByteRange range, std::size_t shard_bytes) const noexcept {
  if (!impl_) return range;
  const CodeSpec& spec = impl_->spec();
  if (engine::is_flat(spec) || range.bytes == 0) return range;
  const std::size_t group = engine::group_bytes(spec);
  const std::size_t begin = range.offset / group * group;
  // A range that ends beyond all memory ends with the shard.
  const std::size_t room = std::numeric_limits<std::size_t>::max() - group - range.offset;
  const std::size_t end = range.offset > engine::shard_bytes_max || range.bytes > room
                              ? std::numeric_limits<std::size_t>::max()
                              : (range.offset + range.bytes + group - 1) / group * group;
  return {.offset = begin, .bytes = std::min(end, std::max(begin, shard_bytes)) - begin};
}

Status Codec::Impl::check_plan(const Impl* impl, const Plan& plan) {
  if (is_own(impl, plan)) return Done{};
  if (impl == nullptr) return moved_from();
  if (plan.impl_ == nullptr) return invalid("plan is empty; expected one made by a codec");
  if (!(*plan.impl_->spec == impl->spec()))
    return invalid("plan belongs to a codec of another spec");
  return Done{};
}

// Codes a usual stripe of short shards, and returns false for any other.
bool Plan::Impl::run_directly(const Stripe& stripe, RunOptions options) const noexcept {
  engine::StripeArrays pointers;
  if (!engine::take_usual(shape(), stripe.inputs, stripe.outputs, pointers.inputs.data(),
                          pointers.outputs.data())) {
    return false;
  }
  return call_directly(pointers, stripe.outputs.front().size(), options);
}

Status Codec::run(const Plan& plan, std::span<const ConstShard> inputs,
                  std::span<const Shard> outputs, RunOptions options) const {
  return Impl::run_stripe<run_names>(*this, plan, inputs, outputs, options);
}

bool Codec::run_short(const Plan& plan, const std::byte* const* inputs, std::byte* const* outputs,
                      std::size_t shard_bytes, RunOptions options) const noexcept {
  if (!Impl::is_own(impl_.get(), plan)) return false;
  const plan::Recipe& recipe = plan.impl_->recipe;
  const backend::DirectCall& direct = plan.impl_->direct_call(options);
  if (shard_bytes - 1 >= direct.bytes_max || inputs == nullptr || outputs == nullptr ||
      !engine::are_apart({inputs, recipe.reads.size()}, {outputs, recipe.writes.size()},
                         shard_bytes)) {
    return false;
  }
  direct.run(direct.state, inputs, outputs, shard_bytes);
  return true;
}

Status Codec::run_batch(const Plan& plan, std::span<const Stripe> stripes,
                        RunOptions options) const {
  return Impl::run_stripes(*this, plan, stripes, options, {.stripe = 0});
}

Status Codec::Impl::run_stripes(const Codec& codec, const Plan& plan,
                                std::span<const Stripe> stripes, RunOptions options,
                                engine::StripeNames names) {
  return guarded([&]() -> Status {
    CALPE_CHECK(check_plan(codec.impl_.get(), plan));
    if (!plan.impl_->runs_on_caller) {
      CALPE_TRY(Pending pending, submit_stripes(codec, plan, stripes, options, names));
      return pending.wait();
    }
    if (is_own(codec.impl_.get(), plan) && plan.impl_->is_short_batch(stripes)) {
      while (!stripes.empty() && plan.impl_->run_directly(stripes.front(), options)) {
        stripes = stripes.subspan(1);
        if (names.stripe != engine::no_index) ++names.stripe;
      }
    }
    const engine::Executor executor = codec.impl_->executor(*plan.impl_);
    const engine::Task task = plan.impl_->task(options);
    const std::size_t reads = task.reads.size();
    const std::size_t writes = task.writes.size();
    // As many stripes of one length as fit go to the device together.
    constexpr std::size_t room = 2 * byte_shard_count_max;
    ShortArray<const std::byte*, room> in(std::max(room, reads));
    ShortArray<std::byte*, room> out(std::max(room, writes));
    std::size_t held = 0;
    engine::ShardLengths lengths;
    const auto flush = [&]() -> Status {
      if (held == 0) return Done{};
      return executor.run_equal(task, std::exchange(held, 0),
                                {.inputs = in.data(), .outputs = out.data(), .lengths = lengths});
    };
    for (const Stripe& stripe : stripes) {
      if ((held + 1) * reads > in.size() || (held + 1) * writes > out.size()) {
        CALPE_CHECK(flush());
      }
      const std::byte** const inputs = in.data() + held * reads;
      std::byte** const outputs = out.data() + held * writes;
      engine::ShardLengths next;
      CALPE_CHECK(engine::take_stripe(plan.impl_->shape(), stripe, inputs, outputs, next, names));
      if (names.stripe != engine::no_index) ++names.stripe;
      if (held > 0 && next.data != lengths.data) {
        CALPE_CHECK(flush());
        std::copy_n(inputs, reads, in.data());
        std::copy_n(outputs, writes, out.data());
      }
      lengths = next;
      ++held;
    }
    return flush();
  });
}

Status Codec::run_pieces(const Plan& plan, std::span<const ConstShardPieces> inputs,
                         std::span<const ShardPieces> outputs, RunOptions options) const {
  return guarded([&]() -> Status {
    CALPE_CHECK(Impl::check_plan(impl_.get(), plan));
    CALPE_TRY(const engine::ShardLengths lengths,
              engine::check_stripe(plan.impl_->shape(), inputs, outputs, {}));
    return impl_->executor(*plan.impl_)
        .run_pieces(plan.impl_->task(options), inputs, outputs, lengths);
  });
}

Status Codec::encode(std::span<const ConstShard> data, std::span<const Shard> parity,
                     RunOptions options) const {
  if (!impl_) return guarded([]() -> Status { return moved_from(); });
  return Impl::run_stripe<encode_names>(*this, *impl_->encode_plan, data, parity, options);
}

Status Codec::decode(const Plan& plan, std::span<const ConstShard> survivors,
                     std::span<const Shard> rebuilt, RunOptions options) const {
  return Impl::run_stripe<decode_names>(*this, plan, survivors, rebuilt, options);
}

Status add(Shard target, ConstShard addend) {
  return guarded([&]() -> Status {
    if (target.size() != addend.size()) {
      return invalid("addend has ", addend.size(), " bytes; expected ", target.size());
    }
    if (target.size() > engine::shard_bytes_max) {
      return invalid("target has ", target.size(), " bytes; expected at most ",
                     engine::shard_bytes_max);
    }
    if (engine::find_overlap({&addend, 1}, {&target, 1})) {
      return engine::overlap_error({.list = {"target"}}, {.list = {"addend"}});
    }
    // A product by 1, which the kernels of this CPU add.
    const std::uint8_t one = 1;
    const std::byte* const from = addend.data();
    std::byte* const to = target.data();
    return apply_matrix({.cells = &one, .rows = 1, .columns = 1}, &from, &to, target.size(),
                        {.accumulate = true});
  });
}

}  // namespace calpe
