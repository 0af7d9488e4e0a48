// SPDX-License-Identifier: Apache-2.0
// Objects of any length as data shards, the last of which may be short or empty.
#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/codec_impl.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/stripe_check.hpp"

namespace calpe {

namespace {

constexpr engine::ShardName object_name = {.list = {"object"}};

std::size_t shortest_shard(const CodeSpec& spec, std::size_t object_bytes) noexcept {
  const std::size_t each =
      object_bytes / spec.data_shards + (object_bytes % spec.data_shards == 0 ? 0 : 1);
  if (each > engine::shard_bytes_max) return each;  // refused by every call; must not wrap around
  const std::size_t multiple = engine::length_multiple(spec);
  return (each + multiple - 1) / multiple * multiple;
}

Status check_object(const CodeSpec& spec, std::size_t object_bytes, std::size_t shard_bytes) {
  if (shard_bytes > engine::shard_bytes_max) {
    return invalid("shard_bytes is ", shard_bytes, "; expected at most ", engine::shard_bytes_max);
  }
  if (const std::size_t least = shortest_shard(spec, object_bytes); shard_bytes < least) {
    return invalid("shard_bytes is ", shard_bytes, "; expected at least ", least, " as object has ",
                   object_bytes, " bytes");
  }
  if (const std::size_t multiple = engine::length_multiple(spec); shard_bytes % multiple != 0) {
    return invalid("shard_bytes is ", shard_bytes, "; expected a multiple of ", multiple,
                   " as Jerasure does");
  }
  return Done{};
}

// Data shard number `index`. The object was checked.
template <class View>
View part_of(View object, std::size_t shard_bytes, std::size_t index) noexcept {
  // A product beyond the object could wrap around.
  const bool has_begun = shard_bytes != 0 && index < object.size() / shard_bytes + 1;
  if (!has_begun) return {};
  const std::size_t begin = index * shard_bytes;
  const std::size_t bytes = std::min(shard_bytes, object.size() - begin);
  return bytes == 0 ? View() : object.subspan(begin, bytes);
}

template <class View>
Status split_object(const CodeSpec& spec, View object, std::size_t shard_bytes,
                    std::span<View> data) {
  CALPE_CHECK(engine::check_count({"data"}, data.size(), spec.data_shards));
  CALPE_CHECK(check_object(spec, object.size(), shard_bytes));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = part_of(object, shard_bytes, i);
  return Done{};
}

Status check_parity(std::size_t got, std::size_t expected, std::size_t index) {
  if (got == expected) return Done{};
  return invalid("parity[", index, "] has ", got, " bytes; expected ", expected);
}

// Parity shards must not overlap the object or each other.
Status check_apart(ConstShard object, std::span<const Shard> parity) {
  const auto found = engine::find_overlap({&object, 1}, parity);
  if (!found) return Done{};
  const engine::ShardName output = {.list = {"parity"}, .index = found->output};
  if (found->is_input) return engine::overlap_error(output, object_name);
  return engine::overlap_error(output, {.list = {"parity"}, .index = found->other});
}

}  // namespace

std::size_t Codec::shard_bytes_for(std::size_t object_bytes) const noexcept {
  return impl_ ? shortest_shard(impl_->spec(), object_bytes) : 0;
}

Status Codec::split(ConstShard object, std::size_t shard_bytes, std::span<ConstShard> data) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    return split_object(impl_->spec(), object, shard_bytes, data);
  });
}

Status Codec::split(Shard object, std::size_t shard_bytes, std::span<Shard> data) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    return split_object(impl_->spec(), object, shard_bytes, data);
  });
}

Status Codec::encode_object(ConstShard object, std::size_t shard_bytes,
                            std::span<const Shard> parity, RunOptions options) const {
  return guarded([&]() -> Status {
    if (!impl_) return moved_from();
    const CodeSpec& spec = impl_->spec();
    ShortArray<ConstShard> data(spec.data_shards);
    CALPE_CHECK(split_object<ConstShard>(spec, object, shard_bytes, data));
    CALPE_CHECK(engine::check_count({"parity"}, parity.size(), spec.parity_shards));
    const std::size_t parity_bytes = engine::parity_length(spec, shard_bytes);
    for (std::size_t i = 0; i < parity.size(); ++i) {
      CALPE_CHECK(check_parity(parity[i].size(), parity_bytes, i));
    }
    CALPE_CHECK(check_apart(object, parity));
    const Plan::Impl& own = *plan_encode().impl_;
    return impl_->executor(own).run_short(own.task(options), data, parity,
                                          {.data = shard_bytes, .parity = parity_bytes});
  });
}

Status Codec::decode_object(const Plan& plan, Shard object, std::size_t shard_bytes,
                            std::span<const ConstShard> parity, RunOptions options) const {
  return guarded([&]() -> Status {
    CALPE_CHECK(Impl::check_plan(impl_.get(), plan));
    const CodeSpec& spec = impl_->spec();
    const plan::Recipe& recipe = plan.impl_->recipe;
    CALPE_CHECK(check_object(spec, object.size(), shard_bytes));
    CALPE_CHECK(engine::check_count({"parity"}, parity.size(), spec.parity_shards));
    const std::size_t parity_bytes = engine::parity_length(spec, shard_bytes);
    ShortArray<ConstShard> inputs(recipe.reads.size());
    ShortArray<Shard> outputs(recipe.writes.size());
    for (std::size_t i = 0; i < recipe.reads.size(); ++i) {
      const std::size_t shard = recipe.reads[i];
      if (shard < spec.data_shards) {
        inputs[i] = part_of(object, shard_bytes, shard);
        continue;
      }
      const std::size_t index = shard - spec.data_shards;
      CALPE_CHECK(check_parity(parity[index].size(), parity_bytes, index));
      // No part of the object that the plan reads is also written.
      if (engine::find_overlap({&parity[index], 1}, {&object, 1})) {
        return engine::overlap_error({.list = {"parity"}, .index = index}, object_name);
      }
      inputs[i] = parity[index];
    }
    for (std::size_t i = 0; i < recipe.writes.size(); ++i) {
      if (recipe.writes[i] >= spec.data_shards) {
        return invalid("plan writes parity shard ", recipe.writes[i],
                       "; expected data shards only; encode_object() writes parity");
      }
      outputs[i] = part_of(object, shard_bytes, recipe.writes[i]);
    }
    const Plan::Impl& own = *plan.impl_;
    return impl_->executor(own).run_short(own.task(options), inputs, outputs,
                                          {.data = shard_bytes, .parity = parity_bytes});
  });
}

}  // namespace calpe
