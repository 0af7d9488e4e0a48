// SPDX-License-Identifier: Apache-2.0
#include "reram/device/reram_device.hpp"

#include <gtest/gtest.h>
#include <numeric>

#include <calpe/codec.hpp>

#include "support/reram_stripes.hpp"
#include "support/with_reram.hpp"

namespace calpe::backend::reram {
namespace {

using tests::ReramStripes;

calpe::reram::Parameters preset() {
  return *calpe::reram::find_preset("reraid-fit");
}

TEST(ReramDevice, opens_by_preset) {
  EXPECT_EQ((*open_reram(""))->name(), "reram:reraid-fit");
  EXPECT_EQ((*open_reram("nvsim-32nm"))->name(), "reram:nvsim-32nm");
  const Result<std::unique_ptr<Device>> unknown = open_reram("dram");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "the preset is \"dram\"; expected one of reraid-fit, nvsim-32nm");
}

TEST(ReramDevice, the_ssds_rebuild_one_shard_and_the_controller_several) {
  const ReramStripes shards(10, 4);
  const auto plan_for = [&](std::vector<ShardIndex> lost, const ReramOptions& options) {
    ReramDevice device(preset(), options);
    return ReramDevice::plan_of(**device.compile(shards.program(shards.rebuild(lost))));
  };
  const ReramPlan one = plan_for({3}, {});
  EXPECT_TRUE(one.is_xor_mode);
  EXPECT_EQ(one.ssd_count, 10);  // one per input shard
  EXPECT_EQ(plan_for({3}, {.ssd_count = 13}).ssd_count, 13);
  EXPECT_FALSE(plan_for({3}, {.xor_mode = false}).is_xor_mode);
  const ReramPlan two = plan_for({3, 5}, {});
  EXPECT_FALSE(two.is_xor_mode);
  EXPECT_EQ(two.mapping->outputs(), 16);
  EXPECT_FALSE(plan_for({11}, {}).is_xor_mode);  // coefficients that are not 1
}

TEST(ReramDevice, counts_of_both_modes_are_added_and_seen_in_the_profile) {
  const ReramStripes shards(10, 4);
  ReramDevice device(preset());
  ASSERT_TRUE(shards.agrees(device, shards.rebuild({{3}})));
  const double single = device.seconds();
  EXPECT_GT(single, 0);
  ASSERT_TRUE(shards.agrees(device, shards.rebuild({{3, 5}})));
  const calpe::reram::Counters counters = device.counters();
  EXPECT_EQ(counters.activations, 1 + 64);
  EXPECT_EQ(counters.data_row_writes, 10);
  EXPECT_EQ(counters.matrix_row_writes, 32 * 80);
  EXPECT_GT(device.seconds(), single);
  const Profile profile = device.profile();
  EXPECT_EQ(profile.launches, 65);
  EXPECT_EQ(profile.copy_in_bytes, 2 * 640);
  EXPECT_EQ(profile.copy_out_bytes, 64 + 128);
  EXPECT_DOUBLE_EQ(profile.kernel_seconds, device.seconds());
}

TEST(ReramDevice, a_grid_that_does_not_fit_is_refused_when_compiling) {
  const ReramStripes shards(100, 20);
  ReramDevice device(preset(), {.mapping = {.grid = {1, 1}}});
  const Result<KernelRef> kernel = device.compile(shards.program(shards.codec().plan_encode()));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::compile_failed);
  EXPECT_NE(kernel.error().message.find("need at least 2x1"), std::string::npos)
      << kernel.error().message;
}

TEST(ReramDevice, a_converter_that_is_too_narrow_is_counted_and_gives_wrong_bytes) {
  const ReramStripes shards(10, 4);
  calpe::reram::Parameters narrow = preset();
  narrow.adc_bits.value = 4;
  ReramDevice device(narrow);
  EXPECT_FALSE(shards.agrees(device, shards.codec().plan_encode()));
  EXPECT_GT(device.counters().clipped_sums, 0);
}

// Through the public API: any length, both layouts, every operation.
TEST(ReramDevice, serves_a_codec) {
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    const CodeSpec spec{
        .family = CodeFamily::hybrid, .layout = layout, .data_shards = 5, .parity_shards = 3};
    const Codec simulated = *Codec::create(spec, {.backend = "reram"});
    const Codec cpu = *Codec::create(spec);
    EXPECT_EQ(simulated.backend(), "reram:reraid-fit");
    for (const std::size_t bytes : {0UL, 1UL, 65UL, 4096UL, 10001UL}) {
      std::vector<std::vector<std::byte>> data(5, std::vector<std::byte>(bytes));
      for (std::size_t i = 0; i < data.size(); ++i) {
        for (std::size_t b = 0; b < bytes; ++b)
          data[i][b] = std::byte((b * b * 31 + i * 77 + b / 7) & 0xFF);
      }
      const std::vector<ConstShard> inputs(data.begin(), data.end());
      std::vector<std::vector<std::byte>> expected(3,
                                                   std::vector<std::byte>(cpu.parity_bytes(bytes)));
      std::vector<std::vector<std::byte>> parity = expected;
      ASSERT_TRUE(cpu.encode(inputs, std::vector<Shard>(expected.begin(), expected.end())));
      ASSERT_TRUE(simulated.encode(inputs, std::vector<Shard>(parity.begin(), parity.end())));
      EXPECT_EQ(parity, expected) << bytes;
      std::vector<ConstShard> all = inputs;
      all.insert(all.end(), parity.begin(), parity.end());
      EXPECT_TRUE(simulated.verify(inputs, std::span(all).subspan(5))->empty());
    }
  }
}

}  // namespace
}  // namespace calpe::backend::reram
