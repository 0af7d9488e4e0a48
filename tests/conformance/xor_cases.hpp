// SPDX-License-Identifier: Apache-2.0
// Cases with xor programs for every device.
#pragma once
#include "conformance/gf_cases.hpp"
#include "conformance/random_program.hpp"
#include "conformance/trial.hpp"
#include "ir/lower_to_xor.hpp"

namespace calpe::conformance {

// Packets as on disk: the units of a group in sequence, group after group.
inline backend::Geometry packed(std::size_t unit_bytes, std::size_t units, std::size_t groups) {
  return {.unit_bytes = unit_bytes,
          .unit_stride = unit_bytes,
          .group_stride = unit_bytes * units,
          .group_count = groups};
}

// Gaps between units and groups; or the groups of a unit in sequence, unit after unit.
inline backend::Geometry strided(Random& random, std::size_t unit_bytes, std::size_t units) {
  const std::size_t groups = random.between<std::size_t>(1, 5);
  backend::Geometry geometry = {
      .offset = random.below(70), .unit_bytes = unit_bytes, .group_count = groups};
  if (random.coin()) {
    geometry.unit_stride = unit_bytes + random.below(70);
    geometry.group_stride = geometry.unit_stride * units + random.below(70);
  } else {
    geometry.group_stride = unit_bytes + random.below(70);
    geometry.unit_stride = geometry.group_stride * groups + random.below(70);
  }
  return geometry;
}

inline ir::Program random_xor_program(Random& random, unsigned word_bits) {
  return random_program(random, field_of(word_bits),
                        {.dialect = ir::Dialect::xor_,
                         .input_shards = random.between(1U, 12U),
                         .output_shards = random.between(1U, 5U),
                         .temporaries = random.coin() ? 0 : random.between(1U, 60U),
                         .terms_max = random.one_in(4) ? 40U : 12U});
}

// Bit matrices of random coefficients: what the packets layout runs before any pass.
inline testing::AssertionResult xor_lowered(backend::Device& device, Random& random) {
  for (unsigned w = 2; w <= 8; ++w) {
    const auto field = field_of(w);
    for (int round = 0; round < 12; ++round) {
      const auto matrix = random_matrix(random, *field,
                                        {.rows = random.between<std::size_t>(1, 6),
                                         .columns = random.between<std::size_t>(1, 14),
                                         .zero_percent = random.one_in(3) ? 40U : 0U});
      const ir::Program program = ir::lower_to_xor(ir::build(field, matrix));
      const Work work = {.geometry = packed(short_length(random), w, random.between(0U, 3U)),
                         .accumulate = random.coin()};
      CALPE_AGREES(agrees(device, random, program, work));
    }
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult xor_lengths(backend::Device& device, Random& random) {
  for (const std::size_t bytes : lengths) {
    for (int round = 0; round < (bytes > 5000 ? 2 : 7); ++round) {
      const unsigned w = random.between(2U, bytes > 5000 ? 4U : 8U);
      const ir::Program program = random_xor_program(random, w);
      const Work work = {.geometry = packed(bytes, w, random.between(1U, 2U)),
                         .accumulate = random.coin()};
      CALPE_AGREES(agrees(device, random, program, work));
    }
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult xor_strides(backend::Device& device, Random& random) {
  for (int round = 0; round < 100; ++round) {
    const unsigned w = random.between(2U, 8U);
    const ir::Program program = random_xor_program(random, w);
    const Work work = {.geometry = strided(random, short_length(random), w),
                       .accumulate = random.coin()};
    CALPE_AGREES(agrees(device, random, program, work));
  }
  return testing::AssertionSuccess();
}

// Store hints never change bytes, for any position of outputs and units.
inline testing::AssertionResult xor_stores(backend::Device& device, Random& random) {
  for (int round = 0; round < 60; ++round) {
    const unsigned w = random.between(2U, 8U);
    const ir::Program program = random_xor_program(random, w);
    const std::size_t unit_bytes = random.coin() ? 64 : 64 * random.between(1U, 5U);
    Work work = {.geometry = random.one_in(4) ? strided(random, unit_bytes, w)
                                              : packed(unit_bytes, w, random.between(1U, 4U)),
                 .accumulate = random.one_in(4)};
    work.stripe_count = random.between(1U, 3U);
    work.stores = random.one_in(4) ? Stores::cached : Stores::streaming;
    work.alignment = random.one_in(4) ? Alignment::any : Alignment::to_vectors;
    CALPE_AGREES(agrees(device, random, program, work));
  }
  return testing::AssertionSuccess();
}

// Long chains: every value of the program is live at once, and outputs feed outputs.
inline testing::AssertionResult xor_shared_values(backend::Device& device, Random& random) {
  for (unsigned w = 2; w <= 8; ++w) {
    for (int round = 0; round < 6; ++round) {
      const ir::Program program = random_program(random, field_of(w),
                                                 {.dialect = ir::Dialect::xor_,
                                                  .input_shards = random.between(1U, 4U),
                                                  .output_shards = random.between(1U, 12U),
                                                  .temporaries = random.between(0U, 400U),
                                                  .terms_max = random.between(1U, 6U)});
      const std::size_t bytes = round == 0 ? 3001 : short_length(random);
      const Work work = {.geometry = packed(bytes, w, random.between(1U, 2U)),
                         .accumulate = random.coin()};
      CALPE_AGREES(agrees(device, random, program, work));
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace calpe::conformance
