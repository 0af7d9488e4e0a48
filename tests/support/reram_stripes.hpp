// SPDX-License-Identifier: Apache-2.0
// Stripes of the paper's code (hybrid, packets of 8 bytes) on simulated crossbars and on the CPU.
#pragma once
#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "ir/lower_to_xor.hpp"
#include "reram/device/reram_device.hpp"

namespace calpe::tests {

inline constexpr std::size_t reram_packet = 8;
inline constexpr std::size_t reram_group = 8 * reram_packet;  // of one shard: 64 vectors

class ReramStripes {
 public:
  ReramStripes(unsigned data, unsigned parity, std::size_t groups = 1)
      : codec_(*Codec::create({.family = CodeFamily::hybrid,
                               .layout = Layout::packets,
                               .data_shards = static_cast<std::uint16_t>(data),
                               .parity_shards = static_cast<std::uint16_t>(parity),
                               .packet_bytes = reram_packet})),
        groups_(groups),
        shards_(data + parity, std::vector<std::byte>(groups * reram_group)) {
    std::mt19937 random(data * 1000 + parity);
    for (std::size_t s = 0; s < data; ++s) {
      for (std::byte& byte : shards_[s])
        byte = std::byte(random());
    }
    std::vector<ConstShard> inputs(shards_.begin(), shards_.begin() + data);
    std::vector<Shard> outputs(shards_.begin() + data, shards_.end());
    EXPECT_TRUE(codec_.encode(inputs, outputs));
  }

  const Codec& codec() const { return codec_; }
  std::size_t shard_bytes() const { return groups_ * reram_group; }

  Plan rebuild(std::span<const ShardIndex> lost) const {
    std::vector<ShardIndex> available;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (std::ranges::find(lost, s) == lost.end()) available.push_back(static_cast<ShardIndex>(s));
    }
    return *codec_.plan_decode(available, lost);
  }

  // The plan's program as the device sees it.
  ir::Program program(const Plan& plan) const {
    gf::Matrix rows(plan.writes().size(), plan.reads().size());
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      for (std::size_t c = 0; c < rows.columns(); ++c)
        rows(r, c) = plan.coefficients()[r * rows.columns() + c];
    }
    return ir::lower_to_xor(ir::build(*gf::Field::create(8, codec_.spec().polynomial), rows));
  }

  // Runs the plan on the device and compares with the CPU's bytes.
  testing::AssertionResult agrees(backend::reram::ReramDevice& device, const Plan& plan) const {
    const Result<backend::KernelRef> kernel = device.compile(program(plan));
    if (!kernel) return testing::AssertionFailure() << kernel.error().message;
    std::vector<const std::byte*> inputs;
    for (const ShardIndex s : plan.reads())
      inputs.push_back(shards_[s].data());
    std::vector<std::vector<std::byte>> rebuilt(plan.writes().size(),
                                                std::vector<std::byte>(shard_bytes()));
    std::vector<std::byte*> outputs;
    for (std::vector<std::byte>& shard : rebuilt)
      outputs.push_back(shard.data());
    const Status done = device.run(**kernel, {.inputs = inputs.data(),
                                              .outputs = outputs.data(),
                                              .geometry = {.unit_bytes = reram_packet,
                                                           .unit_stride = reram_packet,
                                                           .group_stride = reram_group,
                                                           .group_count = groups_}});
    if (!done) return testing::AssertionFailure() << done.error().message;
    for (std::size_t i = 0; i < rebuilt.size(); ++i) {
      if (rebuilt[i] != shards_[plan.writes()[i]])
        return testing::AssertionFailure() << "shard " << plan.writes()[i] << " differs";
    }
    return testing::AssertionSuccess();
  }

 private:
  Codec codec_;
  std::size_t groups_;
  std::vector<std::vector<std::byte>> shards_;
};

}  // namespace calpe::tests
