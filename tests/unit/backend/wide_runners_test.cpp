// SPDX-License-Identifier: Apache-2.0
// Compares the runners of codes over GF(2^16), on every path of this CPU, with programs that are
// interpreted symbol by symbol.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/cpu_device.hpp"
#include "code/lch.hpp"
#include "conformance/random_program.hpp"
#include "conformance/shards.hpp"
#include "conformance/trial.hpp"
#include "support/cpu_paths.hpp"

namespace calpe::backend::cpu {
namespace {

using conformance::Random;
using conformance::Shards;
using conformance::Work;

constexpr std::size_t units = 2;  // low and high bytes

// The program over symbols of two bytes, for one column.
class Interpreter {
 public:
  explicit Interpreter(const ir::Program& program) : program_(program), values_(program.values()) {}

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
           std::size_t low, std::size_t high, bool accumulate) {
    for (ir::Value v = 0; v < program_.inputs(); ++v) {
      values_[v] = static_cast<gf::Element>(std::to_integer<unsigned>(inputs[v][low]) |
                                            std::to_integer<unsigned>(inputs[v][high]) << 8);
    }
    for (const ir::Instruction& instruction : program_.instructions()) {
      gf::Element sum = 0;
      for (const ir::Term& term : program_.terms(instruction))
        sum ^= program_.field().multiply(term.coefficient, values_[term.value]);
      values_[instruction.target] = sum;
    }
    for (std::uint32_t r = 0; r < program_.outputs(); ++r) {
      const gf::Element value = values_[program_.output(r)];
      const std::byte a{static_cast<unsigned char>(value)};
      const std::byte b{static_cast<unsigned char>(value >> 8)};
      outputs[r][low] = accumulate ? outputs[r][low] ^ a : a;
      outputs[r][high] = accumulate ? outputs[r][high] ^ b : b;
    }
  }

 private:
  const ir::Program& program_;
  std::vector<gf::Element> values_;
};

// Every path computes the same work, so that the slow interpreter runs once for all of them.
class WideRunners : public testing::Test {
 protected:
  using Compile = std::function<Result<KernelRef>(Device&)>;

  testing::AssertionResult agree(const Compile& compile, const ir::Program& program,
                                 const Work& work) {
    const Geometry& g = work.geometry;
    const std::size_t bytes = conformance::extent(g, units);
    Shards inputs(random_, work.stripe_count * program.inputs(), bytes);
    const Shards outputs_before(random_, work.stripe_count * program.outputs(), bytes);
    const Shards inputs_before = inputs;
    const std::vector<std::byte*> in = inputs.pointers();
    const std::vector<const std::byte*> sources(in.begin(), in.end());
    const Shards expected = interpret(program, work, sources, outputs_before);
    for (const auto& device : devices_) {
      const Result<KernelRef> kernel = compile(*device);
      if (!kernel) return conformance::failure(kernel.error()) << " by " << device->name();
      Shards outputs = outputs_before;
      const std::vector<std::byte*> targets = outputs.pointers();
      const Status done = device->run(**kernel, {.stripe_count = work.stripe_count,
                                                 .inputs = sources.data(),
                                                 .outputs = targets.data(),
                                                 .geometry = g,
                                                 .accumulate = work.accumulate,
                                                 .stores = work.stores});
      if (!done) return conformance::failure(done.error()) << " by " << device->name();
      std::string wrong = outputs.difference_to(expected);
      if (wrong.empty()) wrong = inputs.difference_to(inputs_before);
      if (!wrong.empty()) {
        return testing::AssertionFailure()
               << device->name() << ": " << wrong << "; " << conformance::to_string(work);
      }
    }
    return testing::AssertionSuccess();
  }
  static Shards interpret(const ir::Program& program, const Work& work,
                          std::span<const std::byte* const> sources, Shards outputs) {
    const Geometry& g = work.geometry;
    Interpreter interpreter(program);
    const std::vector<std::byte*> targets = outputs.pointers();
    for (std::size_t stripe = 0; stripe < work.stripe_count; ++stripe) {
      for (std::size_t group = 0; group < g.group_count; ++group) {
        for (std::size_t column = 0; column < g.unit_bytes; ++column) {
          const std::size_t low = g.offset + group * g.group_stride + column;
          interpreter.run(sources.subspan(stripe * program.inputs(), program.inputs()),
                          std::span(targets).subspan(stripe * program.outputs(), program.outputs()),
                          low, low + g.unit_stride, work.accumulate);
        }
      }
    }
    return outputs;
  }
  testing::AssertionResult runs(const ir::Transform& transform, const Work& work) {
    const auto compile = [&](Device& device) { return device.compile_transform(transform); };
    return agree(compile, ir::expand(transform), work)
           << "; log_size " << transform.log_size << ", " << transform.places.size() << " inputs, "
           << transform.outputs() << " outputs, located " << transform.locator.has_value();
  }
  testing::AssertionResult runs(const gf::Matrix& rows, const Work& work) {
    const auto compile = [&](Device& device) { return device.compile_matrix(field_, rows); };
    return agree(compile, ir::build(field_, rows), work)
           << "; " << rows.rows() << " x " << rows.columns();
  }

  // Whole blocks, a tail, or long units with gaps.
  Work random_work() {
    Work work;
    Geometry& g = work.geometry;
    g.offset = random_.below(70);
    switch (random_.below(3)) {
      case 0:
        g = {.offset = g.offset,
             .unit_bytes = 64,
             .unit_stride = 64,
             .group_stride = 128,
             .group_count = random_.between<std::size_t>(1, 3)};
        break;
      case 1:
        g.unit_bytes = random_.between<std::size_t>(1, 64);
        g.unit_stride = g.unit_bytes + (random_.coin() ? 0 : random_.below(9));
        break;
      default:
        g.unit_bytes = random_.between<std::size_t>(1, 150);
        g.unit_stride = g.unit_bytes + random_.below(30);
        g.group_stride = 2 * g.unit_stride + random_.below(20);
        g.group_count = random_.between<std::size_t>(1, 2);
    }
    work.stripe_count = random_.one_in(4) ? 2 : 1;
    work.accumulate = random_.coin();
    return work;
  }

  // `count` random places of [begin, end), ascending; all of them if there are fewer.
  std::vector<std::uint16_t> places(std::size_t begin, std::size_t end, std::size_t count) {
    std::vector<std::uint16_t> chosen;
    for (std::size_t place = begin; place < end; ++place) {
      if (random_.below(end - place) < count - chosen.size())
        chosen.push_back(static_cast<std::uint16_t>(place));
      if (chosen.size() == count) break;
    }
    return chosen;
  }
  // Inputs in up to three places apart: the first coset, some near it, and some anywhere.
  ir::Transform random_transform(unsigned log_size, std::size_t shards_max) {
    const std::size_t size = std::size_t{1} << log_size;
    ir::Transform transform{.field = field_, .points = points(), .log_size = log_size};
    const auto add = [&](std::size_t begin, std::size_t end) {
      const auto more = places(begin, end, random_.between<std::size_t>(1, shards_max));
      for (const std::uint16_t place : more) {
        if (std::ranges::find(transform.places, place) == transform.places.end())
          transform.places.push_back(place);
      }
    };
    const std::size_t beyond = std::min<std::size_t>(65536, size + 1 + random_.below(4 * size));
    if (!random_.one_in(8)) add(size, beyond);
    if (random_.one_in(3)) add(0, size);
    if (random_.one_in(3)) add(size, 65536);
    if (random_.one_in(4)) random_.shuffle(std::span(transform.places));
    if (random_.coin()) {
      transform.values = places(0, size, random_.between<std::size_t>(1, shards_max));
    } else {
      transform.locator = random_locator(size, shards_max);
    }
    return transform;
  }
  ir::Locator random_locator(std::size_t size, std::size_t shards_max) {
    ir::Locator locator;
    if (!random_.one_in(3)) {
      for (std::size_t i = 0; i < size; ++i)
        locator.scales.push_back(random_.one_in(9) ? gf::Element{0} : element());
    }
    const std::size_t begin = random_.coin() ? 0 : size;
    const std::size_t end = random_.one_in(3) ? 65536 : std::min<std::size_t>(65536, 2 * size);
    for (const std::uint16_t place :
         places(begin, end, random_.between<std::size_t>(1, shards_max)))
      locator.outputs.push_back({.place = place, .factor = element()});
    if (random_.coin()) random_.shuffle(std::span(locator.outputs));
    return locator;
  }
  gf::Element element() { return random_.between<gf::Element>(1, 65535); }
  std::span<const gf::Element> points() {
    static const std::vector<gf::Element> lawless = [] {
      const auto all = code::lch_form(*gf::Field::tower(), 1).points;
      std::vector<gf::Element> shuffled(all.begin(), all.end());
      Random(1).shuffle(std::span(shuffled).subspan(1));
      return shuffled;
    }();
    return random_.one_in(8) ? std::span<const gf::Element>(lawless)
                             : code::lch_form(*field_, 1).points;
  }

  const gf::FieldRef field_ = gf::Field::tower();
  const std::vector<std::unique_ptr<Device>> devices_ = [] {
    std::vector<std::unique_ptr<Device>> devices;
    for (const CpuKernels* path : usable_paths())
      devices.push_back(*open_cpu(path->name));
    return devices;
  }();
  Random random_{30};
};

TEST_F(WideRunners, transforms_of_one_block) {
  for (unsigned log_size = 0; log_size <= 8; ++log_size) {
    for (unsigned round = 0; round < 24; ++round) {
      const std::size_t most = round % 4 == 0 ? 3 * (std::size_t{1} << log_size) : 12;
      ASSERT_TRUE(runs(random_transform(log_size, most), random_work()));
    }
  }
}

TEST_F(WideRunners, transforms_of_several_blocks) {
  for (unsigned log_size = 9; log_size <= 12; ++log_size) {
    for (unsigned round = 0; round < (log_size <= 10 ? 8 : 3); ++round) {
      const std::size_t most = round % 4 == 0 ? 700 : 12;
      Work work = random_work();
      work.stripe_count = 1;
      ASSERT_TRUE(runs(random_transform(log_size, most), work));
    }
  }
}

// All places of codes, as in practice: dense blocks, several columns together.
TEST_F(WideRunners, encodings) {
  for (const auto& [data, parity] : {std::pair<std::size_t, std::size_t>{300, 200},
                                     {257, 1},
                                     {520, 40},
                                     {1030, 500},
                                     {600, 513}}) {
    ir::Transform transform{
        .field = field_, .points = points(), .log_size = code::lch_form(*field_, parity).log_size};
    transform.places = places(transform.size(), transform.size() + data, data);
    transform.values = places(0, parity, parity);
    ASSERT_TRUE(
        runs(transform,
             {.geometry = {
                  .unit_bytes = 64, .unit_stride = 64, .group_stride = 128, .group_count = 3}}));
    ASSERT_TRUE(runs(transform, random_work()));
  }
}

TEST_F(WideRunners, matrices) {
  for (unsigned round = 0; round < 150; ++round) {
    const std::size_t rows = random_.one_in(4) ? 1 : random_.below(14);
    const std::size_t inputs = random_.one_in(12) ? 300 + random_.below(300) : random_.below(20);
    ASSERT_TRUE(runs(
        conformance::random_matrix(
            random_, *field_, {.rows = rows, .columns = inputs, .zero_percent = round % 3 * 30U}),
        random_work()));
  }
}

// More rows and inputs than are computed at once.
TEST_F(WideRunners, matrices_in_turns) {
  const auto rows = conformance::random_matrix(random_, *field_, {.rows = 6, .columns = 700});
  for (const bool accumulate : {false, true}) {
    ASSERT_TRUE(runs(rows, {.geometry = {.offset = 3,
                                         .unit_bytes = 64,
                                         .unit_stride = 70,
                                         .group_stride = 140,
                                         .group_count = 9},
                            .accumulate = accumulate}));
  }
}

TEST_F(WideRunners, matrices_of_an_update) {
  for (const std::size_t inputs : {1UL, 2UL}) {
    const auto rows =
        conformance::random_matrix(random_, *field_, {.rows = 333, .columns = inputs});
    Work work = random_work();
    work.accumulate = true;
    ASSERT_TRUE(runs(rows, work));
  }
}

// Programs, and transforms that end with a matrix.
TEST_F(WideRunners, programs) {
  ir::Transform transform{.field = field_, .points = points(), .log_size = 3};
  transform.places = places(3, 60, 20);
  transform.values = {0, 2, 5};
  transform.finish = conformance::random_matrix(random_, *field_, {.rows = 4, .columns = 3});
  const ir::Program program = ir::expand(transform);
  const auto compile = [&](Device& device) { return device.compile(program); };
  ASSERT_TRUE(agree(compile, program, random_work()));
  ASSERT_TRUE(runs(transform, random_work()));
}

TEST_F(WideRunners, refuse_other_fields) {
  const gf::FieldRef other = *gf::Field::create(16, 0);
  for (const auto& device : devices_) {
    const auto kernel = device->compile_matrix(other, gf::Matrix::identity(2));
    ASSERT_FALSE(kernel) << device->name();
    EXPECT_EQ(kernel.error().code, ErrorCode::compile_failed) << device->name();
  }
}

TEST_F(WideRunners, accept_nothing_to_do) {
  const ir::Transform transform{.field = field_, .points = points(), .log_size = 4};
  ASSERT_TRUE(runs(transform, random_work()));
  ir::Transform zeros = transform;
  zeros.values = {1, 9};
  ASSERT_TRUE(runs(zeros, random_work()));
  ASSERT_TRUE(runs(gf::Matrix(2, 0), random_work()));
  ASSERT_TRUE(runs(gf::Matrix(0, 2), random_work()));
  Work none = random_work();
  none.geometry.group_count = 0;
  ASSERT_TRUE(runs(zeros, none));
}

}  // namespace
}  // namespace calpe::backend::cpu
