// SPDX-License-Identifier: Apache-2.0
// Updates parity after a part of one data shard changed.
#include <algorithm>
#include <array>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/overlap.hpp"

namespace calpe {

namespace {

constexpr const char* parity_indices = "parity_indices";

// The caller passes a delta, or old and new bytes.
const char* addend_name(std::size_t index, std::size_t addends) noexcept {
  if (addends == 1) return "delta";
  return index == 0 ? "old_bytes" : "new_bytes";
}

}  // namespace

Status Codec::update(const Change& change, ConstShard delta, std::span<const Shard> parity) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    return impl_->update(change, {&delta, 1}, parity);
  });
}

Status Codec::update(const Change& change, ConstShard old_bytes, ConstShard new_bytes,
                     std::span<const Shard> parity) const {
  if (old_bytes.size() != new_bytes.size()) {
    return guarded([&]() -> Status {
      return invalid("new_bytes has ", new_bytes.size(), " bytes; expected ", old_bytes.size(),
                     " like old_bytes");
    });
  }
  const std::array addends = {old_bytes, new_bytes};
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    return impl_->update(change, addends, parity);
  });
}

// The change is the sum of `addends`, which have the same length.
Status Codec::Impl::update(const Change& change, std::span<const ConstShard> addends,
                           std::span<const Shard> parity) const {
  const std::size_t bytes = addends.front().size();
  const bool is_short_way =
      engine::is_flat(spec()) && change.data_index < code.data_shards() &&
      change.parity_indices.empty() && parity.size() == code.parity_shards() &&
      change.offset <= change.shard_bytes && bytes <= change.shard_bytes - change.offset &&
      change.shard_bytes <= engine::shard_bytes_max;
  engine::StripeArrays stripe;
  if (!is_short_way || !engine::take_plain(addends, bytes, parity, change.shard_bytes,
                                           stripe.inputs.data(), stripe.outputs.data())) {
    return update_checked(change, addends, parity);
  }
  const Plan::Impl* plan = update_plans.find(change.data_index, addends.size());
  if (plan == nullptr) {
    CALPE_TRY(auto made, update_plan(change.data_index, {}, addends.size(), parity_indices));
    plan = update_plans.keep(change.data_index, addends.size(), std::move(made));
  }
  for (std::size_t i = 0; i < parity.size(); ++i)
    stripe.outputs[i] += change.offset;
  if (plan->call_directly(stripe, bytes, {.accumulate = true})) return Done{};
  const engine::Task task = plan->task({.accumulate = true});
  return executor(*plan).run_plain(task, engine::plain_batch(spec(), task, stripe, bytes));
}

// General case of an update. Also reports invalid arguments.
Status Codec::Impl::update_checked(const Change& change, std::span<const ConstShard> addends,
                                   std::span<const Shard> parity) const {
  const bool is_flat = engine::is_flat(spec());
  // In other layouts, every addend is a separate change.
  CALPE_TRY(const auto plan, update_plan(change.data_index, change.parity_indices,
                                         is_flat ? addends.size() : 1, parity_indices));
  const plan::Recipe& recipe = plan->recipe;
  CALPE_CHECK(engine::check_count({"parity"}, parity.size(), recipe.writes.size()));
  const std::size_t bytes = addends.front().size();
  if (change.offset > change.shard_bytes || bytes > change.shard_bytes - change.offset) {
    return invalid(addend_name(0, addends.size()), " has ", bytes, " bytes from offset ",
                   change.offset, "; expected to end within shard_bytes, ", change.shard_bytes);
  }
  engine::LengthCheck check(spec());
  CALPE_CHECK(check.see(change.data_index, change.shard_bytes, {.list = {"shard_bytes"}}));
  for (std::size_t i = 0; i < parity.size(); ++i) {
    CALPE_CHECK(check.see(recipe.writes[i], parity[i].size(), {.list = {"parity"}, .index = i}));
  }
  CALPE_TRY(const engine::ShardLengths lengths, check.finish());
  if (const auto found = engine::find_overlap(addends, parity)) {
    const engine::ShardName output = {.list = {"parity"}, .index = found->output};
    if (!found->is_input) {
      return engine::overlap_error(output, {.list = {"parity"}, .index = found->other});
    }
    return engine::overlap_error(output, {.list = {addend_name(found->other, addends.size())}});
  }
  const engine::Task task = plan->task({.accumulate = true});

  if (is_flat) {
    engine::StripeArrays stripe;
    std::ranges::transform(addends, stripe.inputs.begin(), [](ConstShard s) { return s.data(); });
    for (std::size_t i = 0; i < parity.size(); ++i)
      stripe.outputs[i] = parity[i].data() + change.offset;
    return executor(*plan).run_plain(task, engine::plain_batch(spec(), task, stripe, bytes));
  }
  ShortArray<ShardPieces> pieces(parity.size());
  for (std::size_t i = 0; i < parity.size(); ++i)
    pieces[i] = {&parity[i], 1};
  for (const ConstShard& addend : addends) {
    CALPE_CHECK(executor(*plan).run_change(task, addend, change.offset, pieces, lengths));
  }
  return Done{};
}

}  // namespace calpe
