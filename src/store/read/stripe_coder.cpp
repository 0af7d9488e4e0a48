// SPDX-License-Identifier: Apache-2.0
#include "store/read/stripe_coder.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"

namespace calpe::store {

namespace {

using Indices = std::vector<ShardIndex>;

Indices good_indices(std::span<const std::uint8_t> good) {
  Indices indices;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i] != 0) indices.push_back(static_cast<ShardIndex>(i));
  }
  return indices;
}

Indices with(std::span<const ShardIndex> indices, ShardIndex one_more) {
  Indices all(indices.begin(), indices.end());
  all.insert(std::lower_bound(all.begin(), all.end(), one_more), one_more);
  return all;
}

bool is_unrecoverable(const Result<Plan>& plan) {
  return !plan && plan.error().code == ErrorCode::unrecoverable;
}

}  // namespace

StripeCoder::StripeCoder(Codec codec, std::size_t block_bytes)
    : codec_(std::move(codec)),
      block_bytes_(block_bytes),
      is_any_k_enough_(codec_.proof().losses == codec_.spec().parity_shards) {}

Result<StripeCoder> StripeCoder::make(const ShardHeader& header) {
  Result<Codec> codec = Codec::create(header.spec);
  if (!codec) {
    if (codec.error().code == ErrorCode::out_of_memory) return codec.error();
    return make_error(ErrorCode::corrupt, "the header of set ", uuid_text(header.uuid),
                      " has no usable code: ", codec.error().message);
  }
  if (codec->spec() != header.spec) {
    return make_error(ErrorCode::corrupt, "the header of set ", uuid_text(header.uuid),
                      " has a code with default fields; expected all fields to be set");
  }
  return StripeCoder(*std::move(codec), header.block_bytes);
}

bool StripeCoder::can_rebuild(std::span<const std::uint8_t> good) const {
  const Indices available = good_indices(good);
  if (is_any_k_enough_) return available.size() >= codec_.spec().data_shards;
  Indices wanted;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i] == 0) wanted.push_back(static_cast<ShardIndex>(i));
  }
  return wanted.empty() || codec_.plan_decode(available, wanted).has_value();
}

Result<Rebuilt> StripeCoder::run(const StripeBlocks& stripe, const Plan& plan) const {
  const auto compared = static_cast<std::size_t>(
      std::count_if(plan.writes().begin(), plan.writes().end(),
                    [&](ShardIndex index) { return stripe.good[index] != 0; }));
  std::vector<std::byte> computed(compared * block_bytes_);
  std::vector<ConstShard> inputs;
  for (const ShardIndex index : plan.reads()) {
    inputs.push_back(stripe.blocks[index]);
  }
  std::vector<Shard> outputs;
  std::byte* next = computed.data();
  for (const ShardIndex index : plan.writes()) {
    if (stripe.good[index] != 0) {
      outputs.emplace_back(next, block_bytes_);
      next += block_bytes_;
    } else {
      outputs.push_back(stripe.blocks[index]);
    }
  }
  CALPE_CHECK(codec_.run(plan, inputs, outputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ShardIndex index = plan.writes()[i];
    if (stripe.good[index] == 0) continue;
    if (std::memcmp(outputs[i].data(), stripe.blocks[index].data(), block_bytes_) != 0) {
      return Rebuilt::contradicting;
    }
  }
  return Rebuilt::done;
}

Result<Rebuilt> StripeCoder::rebuild(const StripeBlocks& stripe,
                                     std::span<const ShardIndex> wanted) const {
  const Indices available = good_indices(stripe.good);
  const std::size_t needed = codec_.spec().data_shards;
  if (is_any_k_enough_ && available.size() < needed) return Rebuilt::lost;
  // For codes that are not MDS, decodability depends on the choice. The last shards are parity and
  // seldom needed.
  if (!is_any_k_enough_ || available.size() > needed) {
    for (auto extra = available.rbegin(); extra != available.rend(); ++extra) {
      const Result<Plan> plan = codec_.plan_decode(available, with(wanted, *extra));
      if (is_unrecoverable(plan)) continue;
      if (!plan) return plan.error();
      return run(stripe, *plan);
    }
  }
  const Result<Plan> plan = codec_.plan_decode(available, wanted);
  if (is_unrecoverable(plan)) return Rebuilt::lost;
  if (!plan) return plan.error();
  return run(stripe, *plan);
}

Result<Rebuilt> StripeCoder::compare(const StripeBlocks& stripe) const {
  const Indices available = good_indices(stripe.good);
  const std::size_t needed = codec_.spec().data_shards;
  const std::span<const ShardIndex> all = available;
  if (all.size() > needed && (is_any_k_enough_ || all[needed - 1] == needed - 1)) {
    CALPE_TRY(const Plan plan, codec_.plan_decode(all.first(needed), all.subspan(needed)));
    return run(stripe, plan);
  }
  if (is_any_k_enough_) return Rebuilt::done;
  for (const ShardIndex index : available) {
    const Result<Plan> plan = codec_.plan_decode(available, std::span(&index, 1));
    if (is_unrecoverable(plan)) continue;
    if (!plan) return plan.error();
    CALPE_TRY(const Rebuilt outcome, run(stripe, *plan));
    if (outcome != Rebuilt::done) return outcome;
  }
  return Rebuilt::done;
}

}  // namespace calpe::store
