// SPDX-License-Identifier: Apache-2.0
// Cases with gf programs for every device.
#pragma once
#include <array>

#include "conformance/random_program.hpp"
#include "conformance/trial.hpp"

namespace calpe::conformance {

// Around the widths of vectors, cache lines and pages, and one longer than any block.
inline constexpr std::array<std::size_t, 29> lengths = {
    0,   1,   2,   7,   8,   15,  16,  17,  31,   32,   33,   63,   64,   65,   127,
    128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1025, 4096, 4099, 65537};

// Store hints never change bytes, for any alignment.
inline Work gf_work(Random& random, std::size_t bytes) {
  return {.geometry = {.offset = random.coin() ? 0 : random.below(100), .unit_bytes = bytes},
          .accumulate = random.coin(),
          .stores = static_cast<Stores>(random.below(3)),
          .alignment = static_cast<Alignment>(random.below(3))};
}

inline std::size_t short_length(Random& random) {
  return random.coin() ? random.below(300) : lengths[random.below(20)];
}

inline testing::AssertionResult gf_lengths(backend::Device& device, Random& random) {
  const auto field = field_of(8);
  for (const std::size_t bytes : lengths) {
    for (int round = 0; round < (bytes > 5000 ? 2 : 8); ++round) {
      const std::size_t most = bytes > 5000 ? 5 : 20;
      const auto matrix = random_matrix(random, *field,
                                        {.rows = random.between<std::size_t>(1, most),
                                         .columns = random.between<std::size_t>(1, most)});
      CALPE_AGREES(agrees(device, random, field, matrix, gf_work(random, bytes)));
    }
  }
  return testing::AssertionSuccess();
}

// Every shape up to 20 x 20, because kernels are chosen by the number of rows.
inline testing::AssertionResult gf_shapes(backend::Device& device, Random& random) {
  const auto field = field_of(8);
  for (std::size_t rows = 1; rows <= 20; ++rows) {
    for (std::size_t columns = 1; columns <= 20; ++columns) {
      const auto matrix = random_matrix(random, *field, {.rows = rows, .columns = columns});
      const Work work = gf_work(random, short_length(random));
      CALPE_AGREES(agrees(device, random, field, matrix, work));
    }
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult gf_wide(backend::Device& device, Random& random) {
  const auto field = field_of(8);
  const std::array<MatrixShape, 4> shapes = {{{.rows = 1, .columns = 255},
                                              {.rows = 255, .columns = 1},
                                              {.rows = 32, .columns = 223},
                                              {.rows = 100, .columns = 30}}};
  for (const MatrixShape& shape : shapes) {
    const gf::Matrix matrix = random_matrix(random, *field, shape);
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{131}, std::size_t{300}}) {
      CALPE_AGREES(agrees(device, random, field, matrix, gf_work(random, bytes)));
    }
  }
  return testing::AssertionSuccess();
}

// Zero coefficients, zero rows, zero columns, and matrices of only zeros or ones.
inline testing::AssertionResult gf_zeros_and_ones(backend::Device& device, Random& random) {
  const auto field = field_of(8);
  for (int round = 0; round < 200; ++round) {
    gf::Matrix matrix = random_matrix(random, *field,
                                      {.rows = random.between<std::size_t>(1, 20),
                                       .columns = random.between<std::size_t>(1, 20),
                                       .zero_percent = static_cast<unsigned>(round % 5 * 25)});
    const std::size_t row = random.below(matrix.rows());
    const std::size_t column = random.below(matrix.columns());
    const bool ones = random.coin();
    for (std::size_t c = 0; c < matrix.columns(); ++c)
      matrix(row, c) = ones ? 1 : 0;
    for (std::size_t r = 0; r < matrix.rows() && random.coin(); ++r)
      matrix(r, column) = 0;
    const Work work = gf_work(random, short_length(random));
    CALPE_AGREES(agrees(device, random, field, matrix, work));
  }
  return testing::AssertionSuccess();
}

// All 255 coefficients on all 256 symbols.
inline testing::AssertionResult gf_multiplication_table(backend::Device& device, Random& random) {
  for (const std::uint32_t polynomial : {0x11DU, 0x11BU, 0x12BU, 0x1F5U}) {
    const auto field = field_of(8, polynomial);
    gf::Matrix matrix(255, 1);
    for (std::size_t r = 0; r < 255; ++r)
      matrix(r, 0) = static_cast<gf::Element>(r + 1);
    const Work work = {.geometry = {.unit_bytes = 2048}};
    CALPE_AGREES(agrees(device, random, field, matrix, work));
  }
  return testing::AssertionSuccess();
}

// Temporaries, outputs that are read later, values named twice: not just matrices.
inline testing::AssertionResult gf_shared_values(backend::Device& device, Random& random) {
  const auto field = field_of(8);
  for (int round = 0; round < 200; ++round) {
    const ir::Program program = random_program(random, field,
                                               {.input_shards = random.between(1U, 20U),
                                                .output_shards = random.between(1U, 20U),
                                                .temporaries = random.between(0U, 30U)});
    const std::size_t bytes = round % 50 == 0 ? 20011 : short_length(random);
    CALPE_AGREES(agrees(device, random, program, gf_work(random, bytes)));
  }
  return testing::AssertionSuccess();
}

}  // namespace calpe::conformance
