// SPDX-License-Identifier: Apache-2.0
#include "reram/reram_memory.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace calpe::reram {
namespace {

using Words = std::vector<std::uint64_t>;

Parameters small_chip() {
  Parameters parameters;
  parameters.banks.value = 2;
  parameters.subarrays.value = 2;
  parameters.rows.value = 16;
  parameters.columns.value = 64;
  parameters.read_ns.value = 10;
  parameters.load_ns_per_byte.value = 1;
  parameters.write_word_ns.value = 20;
  parameters.mode_switch_ns.value = 1000;
  return parameters;
}

gf::BitMatrix random_matrix(std::size_t outputs, std::size_t inputs, unsigned seed) {
  std::mt19937 random(seed);
  gf::BitMatrix matrix(outputs, inputs);
  for (std::size_t r = 0; r < outputs; ++r) {
    for (std::size_t c = 0; c < inputs; ++c) {
      if (random() % 2 != 0) matrix.flip(r, c);
    }
  }
  return matrix;
}

std::shared_ptr<const Mapping> mapped(const gf::BitMatrix& matrix, const Parameters& parameters,
                                      const MappingOptions& options = {}) {
  return std::make_shared<const Mapping>(*map_matrix(matrix, parameters, options));
}

// The product over GF(2), 64 vectors per word.
Words product(const gf::BitMatrix& matrix, std::span<const std::uint64_t> inputs) {
  Words outputs(matrix.rows());
  for (std::size_t r = 0; r < matrix.rows(); ++r) {
    for (std::size_t c = 0; c < matrix.columns(); ++c)
      outputs[r] ^= matrix.get(r, c) ? inputs[c] : 0;
  }
  return outputs;
}

Words random_words(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  Words words(count);
  std::ranges::generate(words, random);
  return words;
}

TEST(ReramMemory, multiplies_by_the_matrix_that_was_mapped_last) {
  const Parameters parameters = small_chip();
  ReramMemory memory(parameters);
  for (const unsigned seed : {1U, 2U}) {
    const gf::BitMatrix matrix = random_matrix(12, 16, seed);
    memory.map(mapped(matrix, parameters));
    for (unsigned i = 0; i < 9; ++i) {  // every crossbar more than once
      const Words inputs = random_words(16, 100 + i);
      Words outputs(12);
      memory.multiply(inputs, outputs, 64);
      ASSERT_EQ(outputs, product(matrix, inputs));
    }
  }
  EXPECT_EQ(memory.counters().matrix_row_writes, 2U * 4 * 16);
  EXPECT_EQ(memory.counters().mode_switches, 4);
  EXPECT_EQ(memory.wear().most, 2);
}

TEST(ReramMemory, an_existing_mapping_is_not_rewritten) {
  const Parameters parameters = small_chip();
  ReramMemory memory(parameters);
  const std::shared_ptr<const Mapping> mapping = mapped(random_matrix(8, 8, 1), parameters);
  memory.map(mapping);
  const double seconds = memory.seconds();
  EXPECT_DOUBLE_EQ(seconds, 1000e-9 + 8 * 20e-9);  // the switch, and eight rows of one word
  memory.map(mapping);
  EXPECT_EQ(memory.counters().matrix_row_writes, 4 * 8);
  EXPECT_DOUBLE_EQ(memory.seconds(), seconds);
}

TEST(ReramMemory, grids_take_packets_of_several_words_and_odd_numbers_of_vectors) {
  Parameters parameters = small_chip();
  parameters.packet_bytes.value = 24;
  for (const MappingOptions& options :
       {MappingOptions{}, MappingOptions{.combine = Combine::digital},
        MappingOptions{.grid = {4, 1}}, MappingOptions{.active_rows_max = 5}}) {
    ReramMemory memory(parameters);
    const gf::BitMatrix matrix = random_matrix(40, 30, 3);
    memory.map(mapped(matrix, parameters, options));
    for (const std::size_t vectors : {8UL, 64UL, 72UL, 192UL}) {
      const std::size_t words = (vectors + 63) / 64;
      const Words inputs = random_words(words * 30, 5);
      Words outputs(words * 40);
      memory.multiply(inputs, outputs, vectors);
      for (std::size_t w = 0; w < words; ++w) {
        const Words expected = product(matrix, std::span(inputs).subspan(w * 30, 30));
        const std::size_t lanes = std::min<std::size_t>(64, vectors - w * 64);
        const std::uint64_t kept = lanes == 64 ? ~0ULL : (1ULL << lanes) - 1;
        for (std::size_t o = 0; o < 40; ++o)
          ASSERT_EQ(outputs[w * 40 + o] & kept, expected[o] & kept);
      }
    }
    EXPECT_EQ(memory.counters().bytes_in, 30 * (8 + 64 + 72 + 192) / 8);
  }
}

TEST(ReramMemory, time_is_that_of_the_schedule) {
  const Parameters parameters = small_chip();
  ReramMemory memory(parameters);
  const std::shared_ptr<const Mapping> mapping = mapped(random_matrix(8, 16, 1), parameters);
  memory.map(mapping);
  const double start = memory.seconds();
  const Words inputs(16);
  Words outputs(8);
  for (int i = 0; i < 5; ++i)  // on four crossbars, so one has two
    memory.multiply(inputs, outputs, 64);
  EXPECT_DOUBLE_EQ(memory.seconds() - start, 2 * 64 * (2 * 1e-9 + 10e-9));
}

std::vector<std::byte> block(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> filled(bytes);
  for (std::byte& byte : filled)
    byte = std::byte(random());
  return filled;
}

TEST(ReramMemory, adds_blocks_also_when_there_are_more_than_rows) {
  for (const std::size_t count : {1UL, 2UL, 16UL, 17UL, 31UL, 32UL, 100UL}) {
    for (const std::size_t bytes : {1UL, 7UL, 8UL}) {
      ReramMemory memory(small_chip(), 3);
      std::vector<std::vector<std::byte>> blocks;
      std::vector<const std::byte*> pointers;
      std::vector<std::byte> expected(bytes);
      for (std::size_t i = 0; i < count; ++i) {
        blocks.push_back(block(bytes, static_cast<unsigned>(i)));
        for (std::size_t b = 0; b < bytes; ++b)
          expected[b] ^= blocks.back()[b];
      }
      for (const std::vector<std::byte>& each : blocks)
        pointers.push_back(each.data());
      std::vector<std::byte> sum(bytes);
      memory.add_blocks(pointers, sum);
      ASSERT_EQ(sum, expected) << count << " blocks of " << bytes;
      // After the first round, one row holds the sum so far.
      const std::size_t rounds = count <= 16 ? 1 : 1 + (count - 16 + 14) / 15;
      EXPECT_EQ(memory.counters().activations, rounds);
      EXPECT_EQ(memory.counters().data_row_writes, count + rounds - 1);
    }
  }
}

TEST(ReramMemory, chips_and_crossbars_take_blocks_in_turn) {
  ReramMemory memory(small_chip(), 3);
  const std::vector<std::byte> one = block(8, 1);
  const std::vector<const std::byte*> blocks = {one.data(), one.data()};
  std::vector<std::byte> sum(8);
  for (int i = 0; i < 12; ++i)
    memory.add_blocks(blocks, sum);
  EXPECT_EQ(memory.wear().most, 1);  // three chips of four crossbars, each used once
  EXPECT_EQ(memory.counters().mode_switches, 12);
  EXPECT_DOUBLE_EQ(memory.seconds(), 1000e-9 + 2 * 20e-9 + 10e-9);
  memory.add_blocks(blocks, sum);
  EXPECT_EQ(memory.wear().most, 2);
  EXPECT_EQ(memory.wear().per_row,
            (std::vector<std::uint64_t>{2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ReramMemory, a_released_memory_must_be_mapped_again) {
  const Parameters parameters = small_chip();
  ReramMemory memory(parameters);
  const gf::BitMatrix matrix = random_matrix(8, 8, 1);
  const std::shared_ptr<const Mapping> mapping = mapped(matrix, parameters);
  memory.map(mapping);
  memory.release();
  EXPECT_EQ(memory.counters().mode_switches, 8);
  memory.map(mapping);
  EXPECT_EQ(memory.counters().mode_switches, 12);
  EXPECT_EQ(memory.counters().matrix_row_writes, 2 * 4 * 8);
  const Words inputs = random_words(8, 9);
  Words outputs(8);
  memory.multiply(inputs, outputs, 64);
  EXPECT_EQ(outputs, product(matrix, inputs));
  EXPECT_NEAR(memory.seconds(), 3 * 1000e-9 + 2 * 8 * 20e-9 + 64 * 11e-9, 1e-15);
}

TEST(ReramMemory, a_sum_overwrites_the_matrix_which_is_then_written_again) {
  const Parameters parameters = small_chip();
  ReramMemory memory(parameters);
  const gf::BitMatrix matrix = random_matrix(8, 8, 1);
  const std::shared_ptr<const Mapping> mapping = mapped(matrix, parameters);
  memory.map(mapping);
  const std::vector<std::byte> one = block(8, 1);
  const std::vector<const std::byte*> blocks = {one.data()};
  std::vector<std::byte> sum(8);
  for (int i = 0; i < 4; ++i)
    memory.add_blocks(blocks, sum);
  EXPECT_EQ(sum, one);
  memory.map(mapping);
  const Words inputs = random_words(8, 9);
  for (int i = 0; i < 4; ++i) {  // on every crossbar
    Words outputs(8);
    memory.multiply(inputs, outputs, 64);
    EXPECT_EQ(outputs, product(matrix, inputs));
  }
}

TEST(ReramMemory, stuck_cells_give_wrong_bits_and_only_they_do) {
  Parameters parameters = small_chip();
  parameters.stuck_at_1.value = 1;  // every cell
  ReramMemory memory(parameters);
  memory.map(mapped(gf::BitMatrix(8, 8), parameters));  // all zeros
  const Words inputs = random_words(8, 9);
  Words outputs(8);
  memory.multiply(inputs, outputs, 64);
  std::uint64_t sum = 0;
  for (const std::uint64_t input : inputs)
    sum ^= input;
  EXPECT_EQ(outputs, Words(8, sum));
  // Combination: row 0 also holds ones, whatever is written to it.
  ReramMemory grid(parameters);
  grid.map(mapped(gf::BitMatrix(8, 8), parameters, {.grid = {2, 1}}));
  grid.multiply(inputs, outputs, 64);
  std::uint64_t lower = ~std::uint64_t{0};
  for (std::size_t i = 4; i < 8; ++i)
    lower ^= inputs[i];
  EXPECT_EQ(outputs, Words(8, lower));
  EXPECT_EQ(grid.wear().per_row[0], 64);
}

}  // namespace
}  // namespace calpe::reram
