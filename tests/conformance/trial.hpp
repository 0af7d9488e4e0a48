// SPDX-License-Identifier: Apache-2.0
// Runs one batch on a device and compares the result with ir::interpret, bit for bit.
#pragma once
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "conformance/shards.hpp"
#include "ir/interpret.hpp"
#include "support/random_choice.hpp"

namespace calpe::conformance {

struct Work {
  backend::Geometry geometry = {};
  std::size_t stripe_count = 1;
  bool accumulate = false;
  bool same_input = false;  // every input of a stripe is the same shard
  Stores stores = Stores::automatic;
  Alignment alignment = Alignment::any;  // of the outputs
};

inline std::string to_string(const Work& work) {
  const backend::Geometry& g = work.geometry;
  return std::to_string(work.stripe_count) + " stripes of " + std::to_string(g.group_count) +
         " groups, offset " + std::to_string(g.offset) + ", unit_bytes " +
         std::to_string(g.unit_bytes) + ", unit_stride " + std::to_string(g.unit_stride) +
         ", group_stride " + std::to_string(g.group_stride) +
         (work.accumulate ? ", accumulate" : "") + (work.same_input ? ", same input" : "") +
         ", stores " + std::to_string(static_cast<int>(work.stores)) + ", alignment " +
         std::to_string(static_cast<int>(work.alignment));
}

// Returns the bytes of a shard that holds exactly the geometry.
inline std::size_t extent(const backend::Geometry& geometry, std::size_t unit_count) {
  if (geometry.group_count == 0) return geometry.offset;
  return geometry.offset + (geometry.group_count - 1) * geometry.group_stride +
         (unit_count - 1) * geometry.unit_stride + geometry.unit_bytes;
}

class Trial {
 public:
  Trial(Random& random, const ir::Program& program, const Work& work)
      : program_(program),
        work_(work),
        inputs_(random, work.stripe_count * program.input_shards(),
                extent(work.geometry, program.unit_count())),
        outputs_(random, work.stripe_count * program.output_shards(),
                 extent(work.geometry, program.unit_count()), work.alignment),
        inputs_before_(inputs_),
        outputs_expected_(outputs_) {
    for (std::byte* input : input_pointers())
      sources_.push_back(input);
    targets_ = outputs_.pointers();
  }
  Trial(const Trial&) = delete;  // batches point into it
  Trial& operator=(const Trial&) = delete;

  // Valid during the life of the trial.
  backend::Batch batch() const {
    return {.stripe_count = work_.stripe_count,
            .inputs = sources_.data(),
            .outputs = targets_.data(),
            .geometry = work_.geometry,
            .accumulate = work_.accumulate,
            .stores = work_.stores};
  }

  // Checks the result: outputs as interpreted, no other byte changed, inputs unchanged.
  testing::AssertionResult check() {
    interpret_all();
    const std::string wrong = outputs_.difference_to(outputs_expected_);
    const std::string changed = inputs_.difference_to(inputs_before_);
    if (wrong.empty() && changed.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << (wrong.empty() ? "input " + changed : "output " + wrong) << "; "
           << program_.input_shards() << " inputs, " << program_.output_shards() << " outputs, "
           << program_.temporaries() << " temporaries, word_bits " << program_.field().word_bits()
           << "; " << to_string(work_);
  }

 private:
  std::vector<std::byte*> input_pointers() {
    std::vector<std::byte*> shards = inputs_.pointers();
    const std::size_t per_stripe = program_.input_shards();
    for (std::size_t i = 0; work_.same_input && i < shards.size(); ++i) {
      shards[i] = shards[i - i % per_stripe];
    }
    return shards;
  }

  // Does not use the reference device, which is under test too.
  void interpret_all() {
    const backend::Geometry& g = work_.geometry;
    const std::vector<std::byte*> expected = outputs_expected_.pointers();
    for (std::size_t stripe = 0; stripe < work_.stripe_count; ++stripe) {
      for (std::size_t group = 0; group < g.group_count; ++group) {
        std::vector<const std::byte*> inputs;
        std::vector<std::byte*> outputs;
        for (std::size_t s = 0; s < program_.input_shards(); ++s) {
          for (std::size_t u = 0; u < program_.unit_count(); ++u) {
            inputs.push_back(sources_[stripe * program_.input_shards() + s] + g.offset +
                             group * g.group_stride + u * g.unit_stride);
          }
        }
        for (std::size_t s = 0; s < program_.output_shards(); ++s) {
          for (std::size_t u = 0; u < program_.unit_count(); ++u) {
            outputs.push_back(expected[stripe * program_.output_shards() + s] + g.offset +
                              group * g.group_stride + u * g.unit_stride);
          }
        }
        ir::interpret(program_, inputs, outputs, g.unit_bytes, work_.accumulate);
      }
    }
  }

  const ir::Program& program_;
  Work work_;
  Shards inputs_;
  Shards outputs_;
  Shards inputs_before_;
  Shards outputs_expected_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
};

inline testing::AssertionResult failure(const Error& error) {
  return testing::AssertionFailure() << error.message;
}

// Runs and checks a kernel made from `program`.
inline testing::AssertionResult agrees(backend::Device& device, Random& random,
                                       const Result<backend::KernelRef>& kernel,
                                       const ir::Program& program, const Work& work) {
  if (!kernel) return failure(kernel.error());
  Trial trial(random, program, work);
  if (const Status done = device.submit(**kernel, trial.batch()).wait(); !done) {
    return failure(done.error());
  }
  return trial.check();
}

// For devices that run a compiler for every program: skips some programs and runs the others over
// more geometries. Other devices run every program.
struct Sampling {
  std::uint64_t one_in = 1;  // compile one program in this many
  unsigned works = 1;        // geometries per program
  std::uint64_t one_transform_in = 1;
};
inline Sampling& sampling() {
  static Sampling current;
  return current;
}

// Selects other columns of the same shards, never beyond what `work` covers.
inline Work part_of(Random& random, const Work& work) {
  Work part = work;
  const std::size_t begin = random.below(work.geometry.unit_bytes + 1);
  part.geometry.offset += begin;
  part.geometry.unit_bytes = random.below(work.geometry.unit_bytes - begin + 1);
  part.accumulate = random.coin();
  return part;
}

inline bool is_left_out(Random& random, std::uint64_t one_in) {
  return one_in > 1 && !random.one_in(one_in);
}

// Ignores the sampling.
inline testing::AssertionResult agrees_always(backend::Device& device, Random& random,
                                              const ir::Program& program, const Work& work) {
  const Result<backend::KernelRef> kernel = device.compile(program);
  testing::AssertionResult result = agrees(device, random, kernel, program, work);
  for (unsigned i = 1; i < sampling().works && result; ++i)
    result = agrees(device, random, kernel, program, part_of(random, work));
  return result;
}

inline testing::AssertionResult agrees(backend::Device& device, Random& random,
                                       const ir::Program& program, const Work& work) {
  if (is_left_out(random, sampling().one_in)) return testing::AssertionSuccess();
  return agrees_always(device, random, program, work);
}

inline testing::AssertionResult agrees(backend::Device& device, Random& random,
                                       const ir::Transform& transform, const Work& work) {
  if (is_left_out(random, sampling().one_transform_in)) return testing::AssertionSuccess();
  const ir::Program program = ir::expand(transform);
  return agrees(device, random, device.compile_transform(transform), program, work);
}

// Makes the kernel in both ways: from the program and from the matrix.
inline testing::AssertionResult agrees(backend::Device& device, Random& random,
                                       const gf::FieldRef& field, const gf::Matrix& rows,
                                       const Work& work) {
  if (is_left_out(random, sampling().one_in)) return testing::AssertionSuccess();
  const ir::Program program = ir::build(field, rows);
  const auto through_program = agrees_always(device, random, program, work);
  if (!through_program) return through_program;
  return agrees(device, random, device.compile_matrix(field, rows), program, work);
}

}  // namespace calpe::conformance

// In a case: continues while the claim holds.
#define CALPE_AGREES(claim)                                                \
  do {                                                                     \
    if (testing::AssertionResult agreed = (claim); !agreed) return agreed; \
  } while (false)
