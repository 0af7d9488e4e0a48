// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/own_coder.hpp"

#include <fmt/format.h>

namespace calpe::bench {

namespace {

// Holds a copy of codec and plan: both are cheap to copy and share what they point to.
struct PlanCall {
  Codec codec;
  Plan plan;
  std::vector<ConstShard> inputs;
  std::vector<Shard> outputs;

  bool operator()() const { return codec.run(plan, inputs, outputs).has_value(); }
};

struct EncodeCall {
  Codec codec;
  std::vector<ConstShard> data;
  std::vector<Shard> parity;

  bool operator()() const { return codec.encode(data, parity).has_value(); }
};

class OwnCoder : public Coder {
 public:
  explicit OwnCoder(const Codec& codec) : codec_(codec) {}

  std::string_view method() const noexcept override { return codec_.backend(); }
  bool writes_profile_bytes() const noexcept override { return true; }

  Call encode_call(const StripeView& stripe) const override {
    EncodeCall call{codec_, {}, {}};
    for (std::size_t i = 0; i < stripe.shards.size(); ++i) {
      if (i < stripe.shape.data_shards) {
        call.data.emplace_back(stripe.shards[i], stripe.shard_bytes);
      } else {
        call.parity.emplace_back(stripe.shards[i], stripe.shard_bytes);
      }
    }
    return call;
  }

  Result<Call> decode_call(const StripeView& stripe,
                           std::span<const ShardIndex> lost) const override {
    auto plan = codec_.plan_decode(survivors_of(lost), lost);
    if (!plan) return std::move(plan).error();
    PlanCall call{codec_, *std::move(plan), {}, {}};
    for (const ShardIndex shard : call.plan.reads())
      call.inputs.emplace_back(stripe.shards[shard], stripe.shard_bytes);
    for (std::size_t i = 0; i < lost.size(); ++i)
      call.outputs.emplace_back(stripe.rebuilt[i], stripe.shard_bytes);
    return Call(call);
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    auto plan = codec_.plan_decode(survivors_of(lost), lost);
    if (!plan) return std::move(plan).error();
    return Done{};
  }

 private:
  std::vector<ShardIndex> survivors_of(std::span<const ShardIndex> lost) const {
    std::vector<ShardIndex> survivors;
    const int shard_count = codec_.spec().data_shards + codec_.spec().parity_shards;
    survivors.reserve(static_cast<std::size_t>(shard_count));
    // One pass over both lists: `plan` times this too, a search per shard would show.
    auto next_lost = lost.begin();
    for (int i = 0; i < shard_count; ++i) {
      if (next_lost != lost.end() && *next_lost == i) {
        ++next_lost;
      } else {
        survivors.push_back(static_cast<ShardIndex>(i));
      }
    }
    return survivors;
  }

  Codec codec_;
};

}  // namespace

Result<std::unique_ptr<Coder>> make_own_coder(const Codec& codec, std::size_t shard_bytes) {
  if (const std::size_t parity = codec.parity_bytes(shard_bytes); parity != shard_bytes) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("parity of {} byte shards has {} bytes, expected equal lengths for "
                             "the benchmark",
                             shard_bytes, parity)};
  }
  if (const std::size_t multiple = codec.shard_bytes_multiple(); shard_bytes % multiple != 0) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("shard has {} bytes, expected a multiple of {} for this profile",
                             shard_bytes, multiple)};
  }
  return std::unique_ptr<Coder>(std::make_unique<OwnCoder>(codec));
}

}  // namespace calpe::bench
