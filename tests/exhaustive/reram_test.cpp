// SPDX-License-Identifier: Apache-2.0
// Compares simulated crossbars with the CPU, byte by byte, and checks every count that follows from
// the paper's mapping: the sizes of its evaluation, every single loss of them, every four-loss
// pattern of 10+4, and matrices larger than a crossbar.
#include <array>
#include <ctime>
#include <gtest/gtest.h>
#include <iostream>
#include <utility>

#include "support/reram_stripes.hpp"

namespace calpe::tests {
namespace {

using backend::reram::ReramDevice;
using backend::reram::ReramOptions;

constexpr std::array paper_data = {10U, 20U, 30U, 40U};
constexpr std::array paper_parity = {2U, 4U, 6U, 8U, 16U};

reram::Parameters parameters(double rows = 512) {
  reram::Parameters chosen = *reram::find_preset("reraid-fit");
  chosen.rows.value = rows;
  return chosen;
}

std::uint64_t most_ones(const gf::BitMatrix& bits) {
  std::uint64_t most = 0;
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    std::uint64_t ones = 0;
    for (std::size_t c = 0; c < bits.columns(); ++c)
      ones += bits.get(r, c) ? 1 : 0;
    most = std::max(most, ones);
  }
  return most;
}

TEST(ReramExhaustive, encode_of_every_size_of_the_paper) {
  std::size_t sizes = 0;
  for (const unsigned data : paper_data) {
    for (const unsigned parity : paper_parity) {
      constexpr std::size_t stripes = 33;  // one more than there are crossbars
      const ReramStripes shards(data, parity, stripes);
      ReramDevice device(parameters(), {.xor_mode = false});
      ASSERT_TRUE(shards.agrees(device, shards.codec().plan_encode())) << data << "+" << parity;
      const reram::Counters counters = device.counters();
      EXPECT_EQ(counters.activations, 64 * stripes);
      EXPECT_EQ(counters.bytes_in, counters.activations * data);
      EXPECT_EQ(counters.bytes_out, 64 * stripes * parity);
      EXPECT_EQ(counters.adc_conversions, counters.activations * parity * 8);
      EXPECT_EQ(counters.matrix_row_writes, 32 * data * 8);
      EXPECT_EQ(counters.data_row_writes + counters.partial_row_writes, 0);
      EXPECT_EQ(counters.mode_switches, 32);
      const backend::KernelRef kernel =
          *device.compile(shards.program(shards.codec().plan_encode()));
      EXPECT_LE(counters.largest_sum, most_ones(ReramDevice::plan_of(*kernel).mapping->matrix));
      EXPECT_EQ(device.wear().most, 1);
      ++sizes;
    }
  }
  EXPECT_EQ(sizes, 20);
}

TEST(ReramExhaustive, every_single_loss_of_every_size_in_xor_mode) {
  std::size_t losses = 0;
  for (const unsigned data : paper_data) {
    for (const unsigned parity : paper_parity) {
      const ReramStripes shards(data, parity, 3);
      for (ShardIndex lost = 0; lost < data; ++lost) {
        ReramDevice device(parameters(), {.ssd_count = data + parity - 1});
        const Plan plan = shards.rebuild({{lost}});
        ASSERT_TRUE(shards.agrees(device, plan)) << data << "+" << parity << " without " << lost;
        const reram::Counters counters = device.counters();
        const std::size_t rows = shards.shard_bytes() / 64;
        EXPECT_EQ(counters.activations, rows);
        EXPECT_EQ(counters.data_row_writes, rows * data);
        EXPECT_EQ(counters.row_writes(), rows * data);
        EXPECT_EQ(counters.adc_conversions, rows * 512);
        EXPECT_LE(counters.largest_sum, data);
        ++losses;
      }
      // A lost parity shard other than the first needs the matrix.
      for (unsigned lost = data; lost < data + parity; ++lost) {
        ReramDevice device(parameters());
        ASSERT_TRUE(shards.agrees(device, shards.rebuild({{static_cast<ShardIndex>(lost)}})));
        EXPECT_EQ(device.counters().data_row_writes != 0, lost == data);
        ++losses;
      }
    }
  }
  EXPECT_EQ(losses, 5 * (10 + 20 + 30 + 40) + 4 * (2 + 4 + 6 + 8 + 16));
  std::cout << losses << " single losses\n";
}

TEST(ReramExhaustive, every_four_loss_pattern_of_10_4) {
  const ReramStripes shards(10, 4);
  ReramDevice device(parameters(), {.xor_mode = false});
  std::size_t patterns = 0;
  for (ShardIndex a = 0; a < 14; ++a) {
    for (ShardIndex b = a + 1U; b < 14; ++b) {
      for (ShardIndex c = b + 1U; c < 14; ++c) {
        for (ShardIndex d = c + 1U; d < 14; ++d) {
          ASSERT_TRUE(shards.agrees(device, shards.rebuild({{a, b, c, d}})))
              << a << " " << b << " " << c << " " << d;
          ++patterns;
        }
      }
    }
  }
  EXPECT_EQ(patterns, 1001);
  EXPECT_EQ(device.counters().activations, 64 * 1001);
  EXPECT_EQ(device.counters().matrix_row_writes, 32UL * 80 * 1001);  // a new matrix every time
}

struct Large {
  unsigned data;
  unsigned parity;
  double rows;
  reram::Grid grid;
};

TEST(ReramExhaustive, combination_mode_to_127_128_and_with_514_rows_to_128_128) {
  std::size_t counted = 0;
  for (const Large& large : {Large{65, 2, 512, {2, 1}},
                             {64, 65, 512, {1, 2}},
                             {100, 20, 512, {2, 1}},
                             {120, 120, 512, {2, 2}},
                             {127, 64, 512, {2, 1}},
                             {64, 128, 512, {1, 2}},
                             {127, 128, 512, {2, 2}},
                             {128, 128, 512, {3, 2}},
                             {128, 128, 514, {2, 2}},
                             {200, 56, 512, {4, 1}}}) {
    const ReramStripes shards(large.data, large.parity, 2);
    for (const reram::Combine combine : {reram::Combine::rewrite, reram::Combine::digital}) {
      const bool is_rewriting = combine == reram::Combine::rewrite;
      ReramDevice device(parameters(large.rows), {.mapping = {.combine = combine}});
      ASSERT_TRUE(shards.agrees(device, shards.codec().plan_encode()))
          << large.data << "+" << large.parity << " " << reram::name_of(combine);
      const reram::Counters counters = device.counters();
      const reram::Grid grid =
          ReramDevice::plan_of(**device.compile(shards.program(shards.codec().plan_encode())))
              .mapping->options.grid;
      if (is_rewriting) {
        EXPECT_EQ(grid, large.grid) << large.data << "+" << large.parity;
      }
      const std::uint64_t columns = (large.parity * 8 + 511) / 512;
      EXPECT_EQ(counters.activations, 2UL * 64 * grid.rows * columns);
      EXPECT_EQ(counters.partial_row_writes,
                is_rewriting ? 2UL * 64 * columns * (grid.rows - 1) : 0);
      EXPECT_EQ(counters.combined_bits,
                is_rewriting ? 0 : 2UL * 64 * large.parity * 8 * (grid.rows - 1));
      EXPECT_EQ(device.wear().most, is_rewriting && grid.rows > 1 ? 64 : 1);
      ++counted;
    }
  }
  EXPECT_EQ(counted, 20);
}

TEST(ReramExhaustive, the_papers_grid_of_four_at_its_own_sizes) {
  for (const unsigned data : paper_data) {
    for (const unsigned parity : paper_parity) {
      const ReramStripes shards(data, parity, 2);
      for (const reram::Combine combine : {reram::Combine::rewrite, reram::Combine::digital}) {
        ReramDevice device(parameters(),
                           {.mapping = {.combine = combine, .grid = {2, 2}}, .xor_mode = false});
        ASSERT_TRUE(shards.agrees(device, shards.codec().plan_encode()));
        EXPECT_EQ(device.counters().activations, 2 * 4 * 64);
      }
    }
  }
}

TEST(ReramExhaustive, fewer_active_rows_take_more_activations_and_give_the_same_bytes) {
  for (const std::size_t limit : {2UL, 3UL, 16UL, 79UL}) {
    for (const reram::Grid grid : {reram::Grid{}, reram::Grid{2, 2}, reram::Grid{3, 1}}) {
      const ReramStripes shards(10, 4);
      ReramDevice device(parameters(), {.mapping = {.grid = grid, .active_rows_max = limit}});
      ASSERT_TRUE(shards.agrees(device, shards.codec().plan_encode())) << limit;
      EXPECT_LE(device.counters().largest_sum, limit);
      if (grid == reram::Grid{}) {
        EXPECT_EQ(device.counters().activations, 64 * ((80 + limit - 1) / limit));
      }
    }
  }
}

TEST(ReramExhaustive, an_encode_of_64_MiB_takes_less_than_20_seconds_of_one_core) {
#if !defined(NDEBUG) || !defined(__x86_64__)
  GTEST_SKIP() << "timed only in an optimised build for the machine itself";
#endif
  constexpr std::size_t stripes = (std::size_t{64} << 20U) / 640 + 1;
  const ReramStripes shards(10, 4, stripes);
  ReramDevice device(parameters());
  const std::clock_t start = std::clock();
  ASSERT_TRUE(shards.agrees(device, shards.codec().plan_encode()));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << "64 MiB simulated in " << seconds << " s\n";
  EXPECT_LT(seconds, 20);
  EXPECT_EQ(device.counters().activations, 64 * stripes);
  // The event schedule reaches the rate derived from the paper's figures.
  const double rate = static_cast<double>(stripes * 640) / device.seconds();
  EXPECT_NEAR(rate / 1e6, 19 * 258.7, 0.02 * 19 * 258.7);
}

}  // namespace
}  // namespace calpe::tests
