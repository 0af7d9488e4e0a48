// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/calpe_coder.hpp"

#include <fmt/format.h>

namespace calpe::bench {

namespace {

std::vector<ConstShard> inputs_of(std::span<std::byte* const> shards, std::size_t bytes) {
  std::vector<ConstShard> inputs;
  for (const std::byte* shard : shards)
    inputs.emplace_back(shard, bytes);
  return inputs;
}

std::vector<Shard> outputs_of(std::span<std::byte* const> shards, std::size_t bytes) {
  std::vector<Shard> outputs;
  for (std::byte* shard : shards)
    outputs.emplace_back(shard, bytes);
  return outputs;
}

// One pass over both lists, because `plan` times this as well.
void list_survivors(std::span<const ShardIndex> lost, std::size_t shard_count,
                    std::vector<ShardIndex>& survivors) {
  survivors.clear();
  auto next_lost = lost.begin();
  for (std::size_t i = 0; i < shard_count; ++i) {
    if (next_lost != lost.end() && *next_lost == i) {
      ++next_lost;
    } else {
      survivors.push_back(static_cast<ShardIndex>(i));
    }
  }
}

struct OwnPointers {
  std::vector<ConstShard> inputs;
  std::vector<Shard> outputs;
};

// Calls hold copies of codec and plan, which are cheap shared handles.
struct EncodeCall {
  Codec codec;
  RunOptions options;
  PerStripe<OwnPointers> stripes;

  bool operator()() {
    const OwnPointers& stripe = stripes.next();
    return codec.encode(stripe.inputs, stripe.outputs, options).has_value();
  }
};

struct DecodeCall {
  Codec codec;
  RunOptions options;
  Plan plan;
  PerStripe<OwnPointers> stripes;

  bool operator()() {
    const OwnPointers& stripe = stripes.next();
    return codec.decode(plan, stripe.inputs, stripe.outputs, options).has_value();
  }
};

// Makes a new plan in every call.
struct FreshDecodeCall {
  Codec codec;
  RunOptions options;
  PatternTurn patterns;
  PerStripe<StripeView> stripes;
  std::vector<ShardIndex> survivors;  // reused buffers, like inputs and outputs
  std::vector<ConstShard> inputs;
  std::vector<Shard> outputs;

  bool operator()() {
    const StripeView& stripe = stripes.next();
    const std::vector<ShardIndex>& lost = patterns.next();
    list_survivors(lost, stripe.shards.size(), survivors);
    const auto plan = codec.plan_decode(survivors, lost);
    if (!plan) return false;
    inputs.clear();
    for (const ShardIndex shard : plan->reads())
      inputs.emplace_back(stripe.shards[shard], stripe.shard_bytes);
    outputs.clear();
    for (std::size_t i = 0; i < lost.size(); ++i)
      outputs.emplace_back(stripe.rebuilt[i], stripe.shard_bytes);
    return codec.decode(*plan, inputs, outputs, options).has_value();
  }
};

struct UpdateCall {
  Codec codec;
  Codec::Change change;
  ChangeForm form;
  PerStripe<OwnPointers> stripes;  // inputs: old bytes, then new bytes or delta

  bool operator()() {
    const OwnPointers& stripe = stripes.next();
    if (form == ChangeForm::delta)
      return codec.update(change, stripe.inputs[1], stripe.outputs).has_value();
    return codec.update(change, stripe.inputs[0], stripe.inputs[1], stripe.outputs).has_value();
  }
};

// Codes all stripes of the buffers in one call.
struct BatchCall {
  Codec codec;
  RunOptions options;
  std::shared_ptr<const std::vector<OwnPointers>> pointers;  // what `stripes` points to
  std::vector<Stripe> stripes;

  bool operator()() const {
    return codec.run_batch(codec.plan_encode(), stripes, options).has_value();
  }
};

OwnPointers encode_pointers(const StripeView& stripe) {
  return {inputs_of(stripe.data(), stripe.shard_bytes),
          outputs_of(stripe.parity(), stripe.shard_bytes)};
}

class OwnCoder : public Coder {
 public:
  OwnCoder(const OwnCodecs& codecs, const RunOptions& options)
      : codec_(codecs.codec), uncached_(codecs.uncached), options_(options) {}

  std::string_view method() const noexcept override { return codec_.backend(); }
  bool writes_profile_bytes() const noexcept override { return true; }

  Call encode_call(const StripeBuffers& stripes) const override {
    return EncodeCall{codec_, options_, {stripes, encode_pointers}};
  }

  Call batch_call(const StripeBuffers& stripes) const override {
    std::vector<OwnPointers> pointers;
    for (std::size_t i = 0; i < stripes.count(); ++i)
      pointers.push_back(encode_pointers(stripes.view(i)));
    BatchCall call{codec_, options_, nullptr, {}};
    call.pointers = std::make_shared<const std::vector<OwnPointers>>(std::move(pointers));
    for (const OwnPointers& stripe : *call.pointers)
      call.stripes.push_back({stripe.inputs, stripe.outputs});
    return call;
  }

  Result<Call> decode_call(const StripeBuffers& stripes,
                           std::span<const ShardIndex> lost) const override {
    auto plan = plan_for(codec_, lost);
    if (!plan) return std::move(plan).error();
    PerStripe<OwnPointers> pointers(stripes, [&](const StripeView& stripe) {
      OwnPointers each{{}, outputs_of(stripe.rebuilt.first(lost.size()), stripe.shard_bytes)};
      for (const ShardIndex shard : plan->reads())
        each.inputs.emplace_back(stripe.shards[shard], stripe.shard_bytes);
      return each;
    });
    return Call(DecodeCall{codec_, options_, *std::move(plan), std::move(pointers)});
  }

  Call fresh_decode_call(const StripeBuffers& stripes, PatternTurn patterns) const override {
    const auto same = [](const StripeView& stripe) { return stripe; };
    return FreshDecodeCall{uncached_, options_, std::move(patterns), {stripes, same}, {}, {}, {}};
  }

  Call update_call(const StripeBuffers& stripes, ChangeForm form) const override {
    const std::size_t shard_bytes = stripes.view().shard_bytes;
    Codec::Change change;
    change.data_index = changed_shard;
    change.shard_bytes = shard_bytes;
    PerStripe<OwnPointers> pointers(stripes, [&](const StripeView& stripe) {
      std::byte* const both[] = {stripe.shards[changed_shard], stripe.rebuilt[0]};
      return OwnPointers{inputs_of(both, shard_bytes), outputs_of(stripe.parity(), shard_bytes)};
    });
    return UpdateCall{codec_, change, form, std::move(pointers)};
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    auto plan = plan_for(uncached_, lost);
    if (!plan) return std::move(plan).error();
    return Done{};
  }

 private:
  static Result<Plan> plan_for(const Codec& codec, std::span<const ShardIndex> lost) {
    std::vector<ShardIndex> survivors;
    const auto shard_count =
        static_cast<std::size_t>(codec.spec().data_shards + codec.spec().parity_shards);
    survivors.reserve(shard_count);
    list_survivors(lost, shard_count, survivors);
    return codec.plan_decode(survivors, lost);
  }

  Codec codec_;
  Codec uncached_;
  RunOptions options_;
};

}  // namespace

Result<std::unique_ptr<Coder>> make_own_coder(const OwnCodecs& codecs, std::size_t shard_bytes,
                                              const RunOptions& options) {
  const Codec& codec = codecs.codec;
  if (const std::size_t parity = codec.parity_bytes(shard_bytes); parity != shard_bytes) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("data shards have {} bytes, parity shards {}; the benchmark needs "
                             "equal lengths",
                             shard_bytes, parity)};
  }
  if (const std::size_t multiple = codec.shard_bytes_multiple(); shard_bytes % multiple != 0) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("shard length is {}; expected a multiple of {} for this profile",
                             shard_bytes, multiple)};
  }
  return std::unique_ptr<Coder>(std::make_unique<OwnCoder>(codecs, options));
}

}  // namespace calpe::bench
