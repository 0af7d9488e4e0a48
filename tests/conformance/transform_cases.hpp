// SPDX-License-Identifier: Apache-2.0
// Cases with additive FFTs for every device: the results must equal those of their instructions.
#pragma once
#include <algorithm>
#include <array>

#include "conformance/gf_cases.hpp"
#include "conformance/random_transform.hpp"
#include "conformance/trial.hpp"

namespace calpe::conformance {

inline Work transform_work(Random& random, std::size_t bytes) {
  Work work = gf_work(random, bytes);
  work.accumulate = random.one_in(3);
  work.stripe_count = random.one_in(4) ? random.between(2U, 3U) : 1;
  return work;
}

inline testing::AssertionResult transform_kinds(backend::Device& device, Random& random) {
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    for (int round = 0; round < 40; ++round) {
      const ir::Transform transform = random_transform(random, log_size);
      const Work work = transform_work(random, short_length(random));
      CALPE_AGREES(agrees(device, random, transform, work));
    }
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult transform_lengths(backend::Device& device, Random& random) {
  for (const std::size_t bytes : lengths) {
    for (unsigned log_size = 3; log_size <= (bytes > 5000 ? 4 : 7); ++log_size) {
      const std::size_t size = std::size_t{1} << log_size;
      const ir::Transform transform =
          bytes > 5000 || random.coin()
              ? encoding(random, {.log_size = log_size, .data = size, .values = size / 2 + 1})
              : random_transform(random, log_size);
      CALPE_AGREES(agrees(device, random, transform, transform_work(random, bytes)));
    }
  }
  return testing::AssertionSuccess();
}

// Every number of inputs: whole chunks followed by shorter ones.
inline testing::AssertionResult transform_inputs(backend::Device& device, Random& random) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    const std::size_t step = log_size < 5 ? 1 : 3;
    for (std::size_t data = 1; data <= std::min(256 - size, 3 * size + 5); data += step) {
      const ir::Transform transform = encoding(
          random,
          {.log_size = log_size, .data = data, .values = random.between<std::size_t>(1, size)});
      CALPE_AGREES(agrees(device, random, transform, transform_work(random, 67)));
    }
  }
  return testing::AssertionSuccess();
}

// A code of all 256 positions, with every parity added to its value: more shards than any code has.
inline testing::AssertionResult transform_of_all_places(backend::Device& device, Random& random) {
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    ir::Transform transform =
        encoding(random, {.log_size = log_size, .data = 256 - size, .values = size});
    transform.places = random_places(random, 0, 256, false);
    CALPE_AGREES(agrees(device, random, transform, transform_work(random, 131)));
    transform.finish =
        random_matrix(random, *transform.field, {.rows = 260, .columns = transform.values.size()});
    CALPE_AGREES(agrees(device, random, transform, transform_work(random, 131)));
  }
  return testing::AssertionSuccess();
}

// Points are borrowed only while the kernel is made.
inline testing::AssertionResult kernels_outlive_transforms(backend::Device& device,
                                                           Random& random) {
  for (unsigned log_size = 0; log_size <= 7; ++log_size) {
    std::vector<gf::Element> points = lawless_points();
    ir::Transform transform = random_transform(random, log_size);
    transform.points = points;
    const ir::Program program = ir::expand(transform);
    const auto kernel = device.compile_transform(transform);
    std::ranges::fill(points, gf::Element{1});
    transform = {};
    CALPE_AGREES(agrees(device, random, kernel, program, transform_work(random, 200)));
  }
  return testing::AssertionSuccess();
}

}  // namespace calpe::conformance
