// SPDX-License-Identifier: Apache-2.0
// Cases for the rest of backend.hpp's contract: batches, completions, threads, refusals.
#pragma once
#include <algorithm>
#include <array>
#include <thread>

#include "conformance/gf_cases.hpp"
#include "conformance/random_program.hpp"
#include "conformance/trial.hpp"
#include "conformance/xor_cases.hpp"

namespace calpe::conformance {

struct Sample {
  ir::Program program;
  Work work = {};
};

// Returns a small sample of either dialect.
inline Sample random_sample(Random& random) {
  const std::size_t bytes = short_length(random);
  if (random.coin()) {
    const unsigned w = random.between(2U, 8U);
    return {.program = random_xor_program(random, w),
            .work = {.geometry = strided(random, bytes, w), .accumulate = random.coin()}};
  }
  return {.program = random_program(random, field_of(8),
                                    {.input_shards = random.between(1U, 12U),
                                     .output_shards = random.between(1U, 6U),
                                     .temporaries = random.coin() ? 0 : random.between(1U, 12U)}),
          .work = gf_work(random, bytes)};
}

inline testing::AssertionResult batches(backend::Device& device, Random& random) {
  for (int round = 0; round < 60; ++round) {
    Sample sample = random_sample(random);
    sample.work.stripe_count = static_cast<std::size_t>(round % 6);  // an empty batch is valid too
    CALPE_AGREES(agrees(device, random, sample.program, sample.work));
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult inputs_may_be_the_same(backend::Device& device, Random& random) {
  for (int round = 0; round < 30; ++round) {
    Sample sample = random_sample(random);
    sample.work.stripe_count = random.between(1U, 3U);
    sample.work.same_input = true;
    CALPE_AGREES(agrees(device, random, sample.program, sample.work));
  }
  return testing::AssertionSuccess();
}

// x = a; y = x + b; added to memory that is not zero. A device that keeps values in the outputs
// would read old memory as x.
inline testing::AssertionResult accumulate_reads_no_memory(backend::Device& device,
                                                           Random& random) {
  for (const ir::Dialect dialect : {ir::Dialect::gf, ir::Dialect::xor_}) {
    const std::uint32_t units = dialect == ir::Dialect::gf ? 1 : 8;
    ir::Program program(
        field_of(8),
        {.dialect = dialect, .inputs = 2 * units, .outputs = 2 * units, .unit_count = units});
    for (std::uint32_t u = 0; u < units; ++u) {
      const ir::Value x = program.output(u);
      program.append(x, std::array{ir::Term{.value = u}});
      program.append(program.output(units + u),
                     std::array{ir::Term{.value = x}, ir::Term{.value = units + u}});
    }
    for (const std::size_t bytes : lengths) {
      const Work work = {.geometry = packed(bytes, units, 1), .accumulate = true};
      CALPE_AGREES(agrees(device, random, program, work));
    }
  }
  return testing::AssertionSuccess();
}

// Two in progress, the second waited for first; a third that only its destructor waits for.
inline testing::AssertionResult three_at_once(backend::Device& device, Random& random,
                                              unsigned rounds) {
  const Sample sample = random_sample(random);
  const auto kernel = device.compile(sample.program);
  if (!kernel) return failure(kernel.error());
  for (unsigned round = 0; round < rounds; ++round) {
    Trial first(random, sample.program, sample.work);
    Trial second(random, sample.program, sample.work);
    Trial third(random, sample.program, sample.work);
    {
      backend::Completion first_done = device.submit(**kernel, first.batch());
      backend::Completion second_done = device.submit(**kernel, second.batch());
      const backend::Completion third_done = device.submit(**kernel, third.batch());
      if (const Status done = second_done.wait(); !done) return failure(done.error());
      if (const Status done = first_done.wait(); !done) return failure(done.error());
    }
    CALPE_AGREES(first.check());
    CALPE_AGREES(second.check());
    CALPE_AGREES(third.check());
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult completions(backend::Device& device, Random& random) {
  const unsigned rounds = std::min(sampling().works, 5U);
  for (unsigned done = 0; done < 20; done += rounds)
    CALPE_AGREES(three_at_once(device, random, rounds));
  return testing::AssertionSuccess();
}

inline testing::AssertionResult run_rounds(backend::Device& device, const backend::Kernel& kernel,
                                           const Sample& sample, Random random) {
  for (int round = 0; round < 20; ++round) {
    Trial trial(random, sample.program, sample.work);
    const Status done = device.submit(kernel, trial.batch()).wait();
    if (!done) return failure(done.error());
    CALPE_AGREES(trial.check());
    CALPE_AGREES(agrees(device, random, sample.program, sample.work));  // compiles meanwhile
  }
  return testing::AssertionSuccess();
}

// Shares device and kernel, but not buffers.
inline testing::AssertionResult two_threads(backend::Device& device, Random& random) {
  for (int round = 0; round < 6; ++round) {
    const Sample sample = random_sample(random);
    const auto kernel = device.compile(sample.program);
    if (!kernel) return failure(kernel.error());
    testing::AssertionResult other = testing::AssertionSuccess();
    std::thread thread([&, seed = random.below(~0U)] {
      other = run_rounds(device, **kernel, sample, Random(seed));
    });
    const testing::AssertionResult own =
        run_rounds(device, **kernel, sample, Random(random.below(~0U)));
    thread.join();
    CALPE_AGREES(own);
    CALPE_AGREES(other);
  }
  return testing::AssertionSuccess();
}

// A kernel must not point into its program, or need the other kernels of its device.
inline testing::AssertionResult kernels_outlive_programs(backend::Device& device, Random& random) {
  std::vector<Sample> samples;
  std::vector<backend::KernelRef> kernels;
  for (int i = 0; i < 8; ++i) {
    samples.push_back(random_sample(random));
    const auto program = std::make_unique<ir::Program>(samples.back().program);
    const auto kernel = device.compile(*program);
    if (!kernel) return failure(kernel.error());
    kernels.push_back(*kernel);
  }
  for (std::size_t i = samples.size(); i-- > 0;) {
    Trial trial(random, samples[i].program, samples[i].work);
    const Status done = device.submit(*kernels[i], trial.batch()).wait();
    if (!done) return failure(done.error());
    CALPE_AGREES(trial.check());
    kernels[i].reset();
  }
  return testing::AssertionSuccess();
}

// Bytes hold no 4-bit symbols, and an unsound program has no meaning: expect errors, not crashes.
inline testing::AssertionResult refusals(backend::Device& device, Random&) {
  const std::vector<ir::Program> programs = {
      ir::build(field_of(4), gf::Matrix::identity(2)),
      ir::Program(field_of(8), {.inputs = 1, .outputs = 1}),  // output never defined
      ir::Program(field_of(2),
                  {.dialect = ir::Dialect::xor_, .inputs = 2, .outputs = 2, .unit_count = 2}),
  };
  for (const ir::Program& program : programs) {
    const auto kernel = device.compile(program);
    if (kernel) return testing::AssertionFailure() << "compiles what it should refuse";
    if (kernel.error().code != ErrorCode::compile_failed) return failure(kernel.error());
  }
  return testing::AssertionSuccess();
}

}  // namespace calpe::conformance
