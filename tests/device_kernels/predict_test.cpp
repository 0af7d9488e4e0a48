// SPDX-License-Identifier: Apache-2.0
// The formulas of `calpe devices --predict` against what the PTX interpreter counts: instructions,
// bytes between registers and cache, bytes between a cache model and memory, and copies.
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <string>

#include <calpe/codec.hpp>

#include "calpe/predict/kernel_counts.hpp"
#include "device_kernels/native_text.hpp"
#include "unit/backend/cuda_bench.hpp"

namespace calpe::tests {
namespace {

namespace gpu = backend::gpu;

constexpr double tolerance = 0.05;

// All rates are 1, so a bound is one divided by the work per byte of data.
tools::GpuDescription plain_gpu() {
  return {.name = "plain",
          .multiprocessors = 1,
          .clock_ghz = 1,
          .memory_gb_per_s = 1,
          .l2_gb_per_s = 1,
          .pcie_gb_per_s = 1,
          .alu_lanes_per_clock = 1,
          .issue_lanes_per_clock = 1,
          .memory_efficiency = 1,
          .compute_efficiency = 1,
          .l2_efficiency = 1};
}

struct Case {
  unsigned data;
  unsigned parity;
  Layout layout;
  std::size_t shard_bytes;
  std::size_t cache_bytes;  // a fraction of all shards
};

std::string name_of(const Case& c) {
  return text(c.data, "+", c.parity, c.layout == Layout::bytes ? " bytes" : " packets");
}

// Work per byte of data.
struct PerByte {
  double memory = 0;
  double alu = 0;
  double issue = 0;
  double cache = 0;
};

class PredictTest : public backend::cuda::CudaBench {
 protected:
  void SetUp() override {
    CudaBench::SetUp();
    calpe_ptx_delay(0, 0);
  }

  static tools::CountedKernel kernel_of(const Case& c) {
    CodeSpec spec = *find_profile("cauchy");
    spec.data_shards = c.data;
    spec.parity_shards = c.parity;
    spec.layout = c.layout;
    spec.word_bits = 8;
    auto counted = tools::count_kernel(spec);
    EXPECT_TRUE(counted) << counted.error().message;
    return *std::move(counted);
  }

  static PerByte predicted(const Case& c, const tools::CountedKernel& kernel) {
    const tools::Prediction prediction =
        tools::predict(plain_gpu(), kernel.counts, {.data = c.data, .parity = c.parity});
    const auto work = [&](std::string_view unit) {
      for (const tools::Bound& bound : prediction.bounds)
        if (bound.unit == unit) return 1 / bound.gb_per_s;
      return 0.0;
    };
    return {work("MEM"), work("ALU"), work("ISSUE"), work("L2")};
  }

  // One launch over one stripe. The content of the shards does not matter.
  PerByte counted(const Case& c, const tools::CountedKernel& kernel) {
    const auto module = driver_->build(kernel.text, kernel.form);
    if (!module) {
      ADD_FAILURE() << module.error().message;
      return {};
    }
    std::vector<std::uint64_t> table;
    for (unsigned shard = 0; shard < c.data + c.parity; ++shard)
      table.push_back(put(std::span<const std::byte>(std::vector<std::byte>(c.shard_bytes))).at);
    const std::size_t units = kernel.shape.unit_count;
    const std::size_t columns = units == 1 ? c.shard_bytes : kernel.form.unit_stride;
    const gpu::Launch launch = {.shards = put(std::span<const std::uint64_t>(table)),
                                .column_bytes = columns,
                                .unit_stride = kernel.form.unit_stride,
                                .group_stride = units * columns,
                                .words = columns / kernel.text.word_bytes,
                                .row_groups = kernel.text.row_groups,
                                .groups = c.shard_bytes / (units * columns)};
    calpe_ptx_cache(c.cache_bytes);
    const calpe_ptx_counts before = backend::cuda::ptx_counts();
    const Status launched = queue_->launch(**module, launch);
    EXPECT_TRUE(launched) << launched.error().message;
    finish();
    const calpe_ptx_counts after = backend::cuda::ptx_counts();
    const auto per_byte = [&](std::uint64_t calpe_ptx_counts::*what) {
      return static_cast<double>(after.*what - before.*what) /
             static_cast<double>(c.data * c.shard_bytes);
    };
    return {per_byte(&calpe_ptx_counts::memory_bytes),
            per_byte(&calpe_ptx_counts::alu_instructions),
            per_byte(&calpe_ptx_counts::instructions), per_byte(&calpe_ptx_counts::cache_bytes)};
  }
};

testing::AssertionResult is_near(double predicted, double counted) {
  if (std::abs(counted - predicted) <= tolerance * predicted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "predicted " << predicted << ", counted " << counted;
}

TEST_F(PredictTest, formulas_are_what_kernels_do) {
  // The cache is smaller than all shards, and larger than what the row groups of one work-group
  // read.
  constexpr std::size_t kib = 1024;
  for (const Case& c : {Case{10, 4, Layout::bytes, 64 * kib, 128 * kib},
                        Case{10, 4, Layout::packets, 64 * kib, 128 * kib},
                        Case{20, 10, Layout::packets, 32 * kib, 256 * kib},
                        Case{223, 32, Layout::bytes, 4 * kib, 256 * kib}}) {
    SCOPED_TRACE(name_of(c));
    const tools::CountedKernel kernel = kernel_of(c);
    const PerByte expected = predicted(c, kernel);
    const PerByte work = counted(c, kernel);
    EXPECT_TRUE(is_near(expected.memory, work.memory)) << "MEM";
    EXPECT_TRUE(is_near(expected.alu, work.alu)) << "ALU";
    EXPECT_TRUE(is_near(expected.issue, work.issue)) << "ISSUE";
    EXPECT_TRUE(is_near(expected.cache, work.cache)) << "L2";
    std::cout << name_of(c) << ", " << kernel.style << ", " << kernel.text.row_groups
              << " row groups: memory " << work.memory << ", L2 " << work.cache << " bytes; ALU "
              << work.alu << ", all " << work.issue << " instructions per byte of data\n";
  }
}

// The check of memory can fail: in another order, every row group reads all data from memory.
TEST_F(PredictTest, row_groups_one_after_the_other_are_noticed) {
  const Case c = {223, 32, Layout::bytes, 4096, std::size_t{256} << 10U};
  tools::CountedKernel kernel = kernel_of(c);
  const std::uint32_t count = kernel.text.row_groups;
  ASSERT_GT(count, 1U);
  const std::string order =
      text("rem.u32 row_group, block, ", count, ";\n  div.u32 block, block, ", count, ";\n");
  ASSERT_NE(kernel.text.text.find(order), std::string::npos);
  kernel.text.text = replaced(
      kernel.text.text, order,
      text("mov.u32 row_groups, %nctaid.x;\n  div.u32 row_groups, row_groups, ", count,
           ";\n  div.u32 row_group, block, row_groups;\n  rem.u32 block, block, row_groups;\n"));
  const PerByte work = counted(c, kernel);
  EXPECT_FALSE(is_near(predicted(c, kernel).memory, work.memory));
  EXPECT_TRUE(is_near(count + 32.0 / 223, work.memory));
}

TEST_F(PredictTest, only_data_and_parity_cross_the_link) {
  const EnvironmentScope untuned("CALPE_DEVICE_TUNE", "0");
  const EnvironmentScope compiled("CALPE_WAIT_COMPILE", "1");
  constexpr std::size_t shard_bytes = 64 * 1024;
  for (const auto& [data, parity] : {std::pair{10U, 4U}, std::pair{3U, 5U}}) {
    const auto codec =
        Codec::create({.data_shards = data, .parity_shards = parity}, {.backend = "cuda:0"});
    ASSERT_TRUE(codec) << codec.error().message;
    std::vector<std::byte> memory((data + parity) * shard_bytes);
    std::vector<ConstShard> inputs;
    std::vector<Shard> outputs;
    for (unsigned i = 0; i < data; ++i)
      inputs.emplace_back(memory.data() + i * shard_bytes, shard_bytes);
    for (unsigned i = data; i < data + parity; ++i)
      outputs.emplace_back(memory.data() + i * shard_bytes, shard_bytes);
    const auto encode = [&] { ASSERT_TRUE(codec->encode(inputs, outputs)); };
    encode();  // also checks kernels
    const calpe_ptx_counts before = backend::cuda::ptx_counts();
    encode();
    const calpe_ptx_counts after = backend::cuda::ptx_counts();
    const auto in = static_cast<double>(after.copy_in_bytes - before.copy_in_bytes);
    const auto out = static_cast<double>(after.copy_out_bytes - before.copy_out_bytes);
    EXPECT_TRUE(is_near(data * shard_bytes, in));
    EXPECT_TRUE(is_near(parity * shard_bytes, out));
    // Both directions at once: the slower one is the limit.
    const tools::Prediction prediction =
        tools::predict(plain_gpu(), {.alu_per_byte = 1e-9, .issue_per_byte = 1e-9},
                       {.data = data, .parity = parity});
    const double slower = std::max(in, out) / (data * shard_bytes);
    if (prediction.host.unit == "LINK") {
      EXPECT_TRUE(is_near(1 / prediction.host.gb_per_s, slower));
    }
  }
}

}  // namespace
}  // namespace calpe::tests
