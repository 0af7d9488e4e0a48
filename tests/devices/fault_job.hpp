// SPDX-License-Identifier: Apache-2.0
// A job of a codec with its expected result from the reference backend.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "devices/device_setup.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {

class FaultJob {
 public:
  enum class Kind { encode, decode, add, update };
  using Shards = std::vector<std::vector<std::byte>>;

  FaultJob(Kind kind, const CodeSpec& spec, std::size_t bytes, std::size_t stripes = 1)
      : kind_(kind),
        spec_(spec),
        bytes_(bytes),
        stripes_(stripes),
        reference_(*Codec::create(spec, {.backend = "reference"})) {}

  Kind kind() const { return kind_; }
  const CodeSpec& spec() const { return spec_; }
  std::string name() const {
    static constexpr const char* names[] = {"encode", "decode", "add", "update"};
    return std::string(names[static_cast<int>(kind_)]) +
           (spec_.layout == Layout::packets ? " of packets" : " of bytes");
  }

  // Makes the plans in advance; failures of planning have their own test.
  Result<Plan> plan(const Codec& codec) const {
    if (kind_ != Kind::decode) return codec.plan_encode();
    std::vector<ShardIndex> available;
    for (unsigned i = 1; i < spec_.data_shards + 1U; ++i)
      available.push_back(static_cast<ShardIndex>(i));
    const std::vector<ShardIndex> wanted = {0};
    return codec.plan_decode(available, wanted);
  }

  // Uses new bytes every time, so that a device that does nothing cannot find the right ones.
  Status run(const Codec& codec, const Plan& plan) {
    prepare();
    return run_prepared(codec, plan);
  }
  void prepare() {
    fill();
    expected_ = outputs_;
    EXPECT_TRUE(work(reference_, *plan(reference_), expected_));
  }
  Status run_prepared(const Codec& codec, const Plan& plan) { return work(codec, plan, outputs_); }
  bool is_right() const { return outputs_ == expected_; }
  // If outputs may still be written, neither they nor the inputs may be freed.
  void leave_memory_to_device() {
    static std::vector<Shards>& left = *new std::vector<Shards>;
    left.push_back(std::exchange(inputs_, {}));
    left.push_back(std::exchange(outputs_, {}));
  }

 private:
  void fill() {
    const bool is_update = kind_ == Kind::update;
    const std::size_t outputs = kind_ == Kind::decode ? 1 : spec_.parity_shards;
    const std::size_t inputs = is_update ? 1 : spec_.data_shards;
    const std::size_t parity = reference_.parity_bytes(bytes_);
    inputs_.clear();
    outputs_.clear();
    for (std::size_t stripe = 0; stripe < stripes_; ++stripe) {
      for (std::size_t i = 0; i < inputs; ++i) {
        const bool is_parity = kind_ == Kind::decode && i + 1 == inputs;
        inputs_.emplace_back(is_parity ? parity : bytes_);
      }
      for (std::size_t i = 0; i < outputs; ++i)
        outputs_.emplace_back(kind_ == Kind::decode ? bytes_ : parity);
    }
    for (Shards* shards : {&inputs_, &outputs_}) {
      for (auto& shard : *shards)
        random_.fill(shard);
    }
  }

  Status work(const Codec& codec, const Plan& plan, Shards& outputs) const {
    if (kind_ == Kind::update) {
      const std::vector<Shard> parity(outputs.begin(), outputs.end());
      return codec.update({.data_index = 1, .offset = 0, .shard_bytes = bytes_}, inputs_[0],
                          parity);
    }
    const std::vector<ConstShard> in(inputs_.begin(), inputs_.end());
    const std::vector<Shard> out(outputs.begin(), outputs.end());
    const std::size_t reads = in.size() / stripes_;
    const std::size_t writes = out.size() / stripes_;
    std::vector<Stripe> stripes;
    for (std::size_t i = 0; i < stripes_; ++i) {
      stripes.push_back({.inputs = std::span(in).subspan(i * reads, reads),
                         .outputs = std::span(out).subspan(i * writes, writes)});
    }
    return codec.run_batch(plan, stripes, {.accumulate = kind_ == Kind::add});
  }

  Kind kind_;
  CodeSpec spec_;
  std::size_t bytes_;
  std::size_t stripes_;
  Codec reference_;
  conformance::Random random_{7};
  Shards inputs_;
  Shards outputs_;
  Shards expected_;
};

}  // namespace calpe::tests
