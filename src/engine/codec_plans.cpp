// SPDX-License-Identifier: Apache-2.0
// Returns plans from the cache, or plans, compiles and caches them.
#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "plan/plan_key.hpp"

namespace calpe {

std::span<const ShardIndex> Plan::reads() const noexcept {
  return impl_ ? std::span<const ShardIndex>(impl_->recipe.reads) : std::span<const ShardIndex>();
}
std::span<const ShardIndex> Plan::writes() const noexcept {
  return impl_ ? std::span<const ShardIndex>(impl_->recipe.writes) : std::span<const ShardIndex>();
}
std::span<const std::uint16_t> Plan::coefficients() const noexcept {
  if (!impl_) return {};
  return impl_->recipe.coefficients.cells();
}

// Plans of up to 256 shards count as one. The kernel of a larger plan has its coefficients again,
// or for a transform a few bytes per shard.
std::size_t Plan::Impl::cache_weight(std::size_t key_bytes) const noexcept {
  if (has_few_shards) return 1;
  constexpr std::size_t entry_bytes = 64 * 1024;
  const std::size_t shards = recipe.reads.size() + recipe.writes.size();
  const std::size_t lists = (shards + recipe.basis.size()) * sizeof(ShardIndex);
  const std::size_t cells = recipe.coefficients.cells().size() * sizeof(gf::Element);
  const std::size_t compiled = recipe.is_transform ? shards * sizeof(std::uint64_t) : cells;
  return divide_up(key_bytes + lists + cells + compiled, entry_bytes);
}

const Plan& Codec::plan_encode() const noexcept {
  static const Plan none(nullptr);
  return impl_ ? *impl_->encode_plan : none;
}

Result<Plan> Codec::plan_decode(std::span<const ShardIndex> available,
                                std::span<const ShardIndex> wanted,
                                std::span<const std::uint32_t> costs) const {
  return guarded([&]() -> Result<Plan> {
    if (!impl_) return moved_from();
    const std::size_t shards = impl_->code.shards();
    if (available.size() > shards || wanted.size() > shards || costs.size() > shards) {
      return invalid(
          "available, wanted or costs has more entries than there are shards: ", available.size(),
          ", ", wanted.size(), ", ", costs.size(), "; expected at most ", shards);
    }
    const auto make = [&] { return impl_->planner.plan(available, wanted, costs); };
    if (impl_->plans.keeps_nothing()) {
      CALPE_TRY(plan::Recipe recipe, make());
      CALPE_TRY(auto plan, impl_->compile(std::move(recipe)));
      return Plan(std::move(plan));
    }
    plan::PlanKey key(impl_->spec(), plan::PlanKind::decode);
    key.add(available);
    key.add(wanted);
    key.add(costs);
    CALPE_TRY(auto plan, impl_->cached(key, make));
    return Plan(std::move(plan));
  });
}

Result<std::shared_ptr<const Plan::Impl>> Codec::Impl::update_plan(
    ShardIndex data_index, std::span<const ShardIndex> parity, std::size_t addends,
    const char* parity_name) const {
  if (parity.size() > code.parity_shards()) {
    return invalid(parity_name, " names ", parity.size(), " shards; expected at most ",
                   code.parity_shards());
  }
  plan::PlanKey key(spec(), addends == 1 ? plan::PlanKind::update : plan::PlanKind::replace);
  key.add(std::span(&data_index, 1));
  key.add(parity);
  return cached(
      key, [&] { return plan::update_recipe(code, data_index, parity, addends, parity_name); });
}

Result<Plan> Codec::plan_update(ShardIndex data_index, std::span<const ShardIndex> parity) const {
  return guarded([&]() -> Result<Plan> {
    if (!impl_) return moved_from();
    CALPE_TRY(auto plan, impl_->update_plan(data_index, parity, 1, "parity"));
    return Plan(std::move(plan));
  });
}

Result<Plan> Codec::plan_partial(const Plan& plan, std::span<const ShardIndex> held) const {
  return guarded([&]() -> Result<Plan> {
    CALPE_CHECK(Impl::check_plan(impl_.get(), plan));
    CALPE_TRY(plan::Recipe recipe, plan::partial_recipe(plan.impl_->recipe, held));
    CALPE_TRY(auto made, impl_->compile(std::move(recipe)));
    return Plan(std::move(made));
  });
}

}  // namespace calpe
