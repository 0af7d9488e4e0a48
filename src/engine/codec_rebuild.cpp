// SPDX-License-Identifier: Apache-2.0
// rebuild: finds the roles of a whole stripe's shards, takes the plan from the cache and runs it.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/shard_lengths.hpp"

namespace calpe {

namespace {

// Some shards of a stripe.
template <class Bytes>
struct Chosen {
  explicit Chosen(std::size_t shards) : numbers(shards), bytes(shards) {}

  ShortArray<ShardIndex> numbers;
  ShortArray<std::span<Bytes>> bytes;
  std::size_t count = 0;

  void add(std::size_t number, std::span<Bytes> shard) {
    numbers[count] = static_cast<ShardIndex>(number);
    bytes[count++] = shard;
  }
  std::span<const ShardIndex> indices() const { return {numbers.data(), count}; }
  std::span<const std::span<Bytes>> shards() const { return {bytes.data(), count}; }
};

// The roles of a stripe's shards, each in ascending order.
struct Roles {
  explicit Roles(std::size_t shards) : present(shards), written(shards) {}

  Chosen<const std::byte> present;
  Chosen<std::byte> written;
};

// The missing shards of a stripe; has an entry per shard.
using ShardSet = ShortArray<bool>;

Status take_missing(std::span<const ShardIndex> missing, ShardSet& set) {
  CALPE_CHECK(plan::check_indices(missing, set.size(), "missing"));
  std::ranges::fill(set, false);
  for (const ShardIndex shard : missing)
    set[shard] = true;
  return Done{};
}

// Also compares with present shards that the plan does not read: they must not be overwritten.
Status check_apart(const Roles& roles, const engine::ListName& list) {
  const auto found = engine::find_overlap(roles.present.shards(), roles.written.shards());
  if (!found) return Done{};
  const auto others = found->is_input ? roles.present.indices() : roles.written.indices();
  return engine::overlap_error({.list = list, .index = roles.written.numbers[found->output]},
                               {.list = list, .index = others[found->other]});
}

// Fills in the roles and checks lengths and overlap.
Status take_roles(const CodeSpec& spec, std::span<const Shard> shards, const ShardSet& missing,
                  bool data_only, const engine::ListName& list, Roles& roles) {
  const std::size_t count = std::size_t{spec.data_shards} + spec.parity_shards;
  if (shards.size() != count) {
    return invalid(list, " has ", shards.size(), " entries; expected ", count);
  }
  roles.present.count = 0;
  roles.written.count = 0;
  std::optional<ShardIndex> without_buffer;
  for (std::size_t i = 0; i < count; ++i) {
    if (!missing[i]) {
      roles.present.add(i, shards[i]);
    } else if (i < spec.data_shards || !data_only) {
      if (shards[i].data() != nullptr) {
        roles.written.add(i, shards[i]);
      } else if (!without_buffer) {
        without_buffer = static_cast<ShardIndex>(i);
      }
    }
  }
  engine::LengthCheck check(spec);
  for (const ShardIndex i : roles.present.indices())
    CALPE_CHECK(check.see(i, shards[i].size(), {.list = list, .index = i}));
  for (const ShardIndex i : roles.written.indices())
    CALPE_CHECK(check.see(i, shards[i].size(), {.list = list, .index = i}));
  CALPE_TRY(const engine::ShardLengths lengths, check.finish());
  // The likely mistake: a lost shard for which no memory was allocated.
  if (without_buffer && roles.written.count == 0 && lengths.of(spec, *without_buffer) > 0) {
    return invalid(engine::ShardName{.list = list, .index = *without_buffer},
                   " is missing and has no buffer; expected one for at least "
                   "one missing shard");
  }
  return check_apart(roles, list);
}

}  // namespace

Status Codec::rebuild(std::span<const Shard> shards, std::span<const ShardIndex> missing,
                      RebuildOptions options) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    ShardSet lost(impl_->code.shards());
    CALPE_CHECK(take_missing(missing, lost));
    Roles roles(impl_->code.shards());
    CALPE_CHECK(take_roles(impl_->spec(), shards, lost, options.data_only, {"shards"}, roles));
    if (roles.written.count == 0) return Done{};
    CALPE_TRY(const Plan plan, plan_decode(roles.present.indices(), roles.written.indices()));
    const auto reads = plan.reads();
    ShortArray<ConstShard> inputs(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i)
      inputs[i] = shards[reads[i]];
    return run(plan, inputs, roles.written.shards(), {.stores = options.stores});
  });
}

Status Codec::rebuild_batch(std::span<const std::span<const Shard>> stripes,
                            std::span<const ShardIndex> missing, RebuildOptions options) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    ShardSet lost(impl_->code.shards());
    CALPE_CHECK(take_missing(missing, lost));
    // A device works on many stripes at once. On the caller's thread, some on the stack suffice.
    constexpr std::size_t device_stripes_max = 4096;
    std::array<Stripe, 64> few_stripes;
    constexpr std::size_t room = 2 * byte_shard_count_max;
    ShortArray<ConstShard, room> few_inputs(std::max(room, impl_->code.shards()));
    ShortArray<Shard, room> few_outputs(std::max(room, impl_->code.shards()));
    std::vector<Stripe> many_stripes;
    std::vector<ConstShard> many_inputs;
    std::vector<Shard> many_outputs;
    std::span<Stripe> held = few_stripes;
    std::span<ConstShard> inputs = few_inputs;
    std::span<Shard> outputs = few_outputs;
    if (!runs_on_caller()) {
      many_stripes.resize(std::min(stripes.size(), device_stripes_max));
      many_inputs.resize(many_stripes.size() * impl_->code.shards());
      many_outputs.resize(many_stripes.size() * impl_->code.shards());
      held = many_stripes;
      inputs = many_inputs;
      outputs = many_outputs;
    }
    std::optional<Plan> plan;  // for the stripes held
    std::size_t count = 0;
    const auto flush = [&]() -> Status {
      if (count == 0) return Done{};
      return run_batch(*plan, held.first(std::exchange(count, 0)), {.stores = options.stores});
    };
    Roles roles(impl_->code.shards());
    for (std::size_t s = 0; s < stripes.size(); ++s) {
      CALPE_CHECK(
          take_roles(impl_->spec(), stripes[s], lost, options.data_only, {.stripe = s}, roles));
      if (roles.written.count == 0) continue;
      const bool is_same = plan && std::ranges::equal(plan->writes(), roles.written.indices());
      const bool is_full =
          is_same && (count == held.size() || (count + 1) * plan->reads().size() > inputs.size() ||
                      (count + 1) * roles.written.count > outputs.size());
      if (!is_same || is_full) CALPE_CHECK(flush());
      if (!is_same) {
        CALPE_TRY(plan, plan_decode(roles.present.indices(), roles.written.indices()));
      }
      const auto reads = plan->reads();
      const auto from = inputs.subspan(count * reads.size(), reads.size());
      for (std::size_t i = 0; i < reads.size(); ++i)
        from[i] = stripes[s][reads[i]];
      const auto to = outputs.subspan(count * roles.written.count, roles.written.count);
      std::ranges::copy(roles.written.shards(), to.begin());
      held[count++] = {.inputs = from, .outputs = to};
    }
    return flush();
  });
}

}  // namespace calpe
