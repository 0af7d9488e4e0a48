// SPDX-License-Identifier: Apache-2.0
#include "reram/timing.hpp"

#include <gtest/gtest.h>

#include "reram/paper.hpp"

namespace calpe::reram {
namespace {

Parameters preset(std::string_view name) {
  return *find_preset(name);
}

Mapping mapping_of(std::size_t data, std::size_t parity, const Parameters& parameters,
                   const MappingOptions& options = {}) {
  return *map_matrix(gf::BitMatrix(parity * 8, data * 8), parameters, options);
}

double encode_rate(std::size_t data, std::size_t parity, const MappingOptions& options = {}) {
  const Parameters parameters = preset("reraid-fit");
  return steady_rate(parameters, mapping_of(data, parity, parameters, options));
}

double speed_up(unsigned data, unsigned parity) {
  return encode_rate(data, parity) / 1e6 / paper_cpu_mb_per_s(data, parity);
}

TEST(ReraidFit, meets_the_two_results_it_was_solved_from) {
  EXPECT_NEAR(encode_rate(40, 2) / encode_rate(10, 2), 1.72, 0.02 * 1.72);
  EXPECT_NEAR(speed_up(10, 2), 19, 0.02 * 19);
}

TEST(ReraidFit, its_largest_speed_up_comes_near_the_papers) {
  double largest = 0;
  for (unsigned data = 1; data <= 40; ++data) {
    for (unsigned parity = 1; parity <= 16; ++parity)
      largest = std::max(largest, speed_up(data, parity));
  }
  EXPECT_NEAR(largest, 110, 0.2 * 110);
  EXPECT_DOUBLE_EQ(largest, speed_up(40, 16));
}

TEST(ReraidFit, rises_with_k_and_is_flat_in_m) {
  for (const std::size_t parity : {2UL, 4UL, 6UL, 8UL, 16UL}) {
    for (std::size_t data = 2; data <= 64; ++data) {
      EXPECT_GT(encode_rate(data, parity), encode_rate(data - 1, parity)) << data;
      EXPECT_DOUBLE_EQ(encode_rate(data, parity), encode_rate(data, 2));
    }
  }
}

TEST(ReraidFit, combination_is_slower_than_normal_and_faster_than_the_papers_cpu) {
  for (const Combine combine : {Combine::rewrite, Combine::digital}) {
    for (const unsigned data : {10U, 20U, 30U, 40U}) {
      for (const unsigned parity : {2U, 4U, 6U, 8U, 16U}) {
        const double combined = encode_rate(data, parity, {.combine = combine, .grid = {2, 2}});
        EXPECT_LT(combined, encode_rate(data, parity));
        EXPECT_GT(combined / 1e6, paper_cpu_mb_per_s(data, parity));
      }
    }
    // Where it is needed: slower than the largest matrix that fits one crossbar.
    for (const auto& [data, parity] : {std::pair{65U, 4U}, {100U, 20U}, {127U, 128U}}) {
      const double combined = encode_rate(data, parity, {.combine = combine});
      EXPECT_LT(combined, encode_rate(64, parity)) << data;
      EXPECT_GT(combined / 1e6, paper_cpu_mb_per_s(data, parity)) << data;
    }
  }
}

Parameters round_numbers() {
  Parameters parameters;
  parameters.read_ns.value = 5;
  parameters.column_mux.value = 2;
  parameters.load_ns_per_byte.value = 3;
  parameters.write_word_ns.value = 20;
  parameters.combine_ns.value = 1;
  return parameters;
}

TEST(VectorTime, is_loading_and_activation) {
  const Parameters parameters = round_numbers();
  EXPECT_EQ(vector_time(parameters, mapping_of(10, 4, parameters)), 10 * 3000 + 10000);
  // Ten activations of at most eight rows, and nine XORs.
  EXPECT_EQ(vector_time(parameters, mapping_of(10, 4, parameters, {.active_rows_max = 8})),
            10 * 3000 + 10 * 10000 + 9 * 1000);
}

TEST(VectorTime, of_a_grid_has_a_row_write_for_every_further_row_of_tiles) {
  const Parameters parameters = round_numbers();
  const Mapping rewriting = mapping_of(100, 128, parameters);
  ASSERT_EQ(rewriting.options.grid, (Grid{2, 2}));
  // 50 shards each; results of 512 bits in words of 64.
  EXPECT_EQ(vector_time(parameters, rewriting), 50 * 3000 + 10000 + 8 * 20000 + 10000);
  const Mapping digital = mapping_of(100, 128, parameters, {.combine = Combine::digital});
  EXPECT_EQ(vector_time(parameters, digital), 50 * 3000 + 10000 + 1000);
}

TEST(SumTime, is_a_row_write_for_each_block_and_one_activation) {
  EXPECT_EQ(sum_time(round_numbers(), 10, 512), 10 * 8 * 20000 + 10000);
  EXPECT_EQ(sum_time(round_numbers(), 3, 65), 3 * 2 * 20000 + 10000);
}

TEST(Schedule, comes_to_the_closed_form) {
  struct Case {
    double bus;
    double queue;
  };
  std::size_t counted = 0;
  // Limited by crossbars, by the incoming bus, by a short queue.
  for (const Case& c : {Case{0, 64}, {100, 64}, {2, 64}, {0, 5}, {5, 5}}) {
    Parameters parameters = round_numbers();
    parameters.bus_gb_per_s.value = c.bus;
    parameters.queue_depth.value = c.queue;
    for (const std::size_t data : {4UL, 10UL, 100UL}) {
      const Mapping mapping = mapping_of(data, 6, parameters);
      Schedule schedule(parameters, mapping.groups);
      constexpr std::size_t blocks = 20000;
      for (std::size_t i = 0; i < blocks; ++i)
        schedule.add({data * 64, 6 * 64, 64 * vector_time(parameters, mapping)});
      const double rate = static_cast<double>(blocks * data * 64) / schedule.seconds();
      const double expected = steady_rate(parameters, mapping);
      EXPECT_NEAR(rate, expected, 0.01 * expected) << c.bus << " " << c.queue << " " << data;
      ++counted;
    }
  }
  EXPECT_EQ(counted, 15);
}

TEST(Schedule, chips_share_the_work) {
  const Parameters parameters = round_numbers();
  for (const std::size_t ssds : {1UL, 13UL}) {
    Schedule schedule(parameters, parameters.crossbar_count(), ssds);
    constexpr std::size_t blocks = 40000;
    for (std::size_t i = 0; i < blocks; ++i)
      schedule.add({640, 64, sum_time(parameters, 10, 512)});
    const double expected = steady_sum_rate(parameters, 10, ssds);
    EXPECT_NEAR(static_cast<double>(blocks * 64) / schedule.seconds(), expected, 0.01 * expected);
  }
}

TEST(Schedule, blocks_go_in_turn_and_wait_for_bus_crossbar_and_pause) {
  Parameters parameters = round_numbers();
  parameters.bus_gb_per_s.value = 1;  // 1 ns per byte
  Schedule schedule(parameters, 2);
  EXPECT_EQ(schedule.next().group, 0);
  schedule.add({10, 5, 100'000});  // in 0..10, work 10..110, out ..115
  EXPECT_EQ(schedule.next().group, 1);
  EXPECT_DOUBLE_EQ(schedule.seconds(), 115e-9);
  schedule.add({10, 5, 100'000});  // in 10..20, work 20..120, out ..125
  EXPECT_DOUBLE_EQ(schedule.seconds(), 125e-9);
  schedule.add({10, 5, 100'000});  // in 20..30, work 110..210, out ..215
  EXPECT_DOUBLE_EQ(schedule.seconds(), 215e-9);
  schedule.pause(1000);
  schedule.add({10, 5, 100'000});
  EXPECT_DOUBLE_EQ(schedule.seconds(), 216e-9 + 115e-9);
}

}  // namespace
}  // namespace calpe::reram
