// SPDX-License-Identifier: Apache-2.0
// Compares every transform kernel of every path of this CPU, and the runner that calls them, with
// the interpreted instructions.
#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/transform_schedule.hpp"
#include "base/cpu_features.hpp"
#include "conformance/random_transform.hpp"
#include "conformance/trial.hpp"
#include "ir/interpret.hpp"
#include "ir/linear_map.hpp"
#include "support/cpu_paths.hpp"

namespace calpe::backend::cpu {
namespace {

using conformance::Alignment;
using conformance::Random;
using conformance::Shards;
using conformance::Work;

enum class Variant { narrow, narrow_stream, wide, wide_stream };

TransformKernel kernel_of(const TransformKernels& kernels, Variant variant) {
  switch (variant) {
    case Variant::narrow:
      return kernels.narrow;
    case Variant::narrow_stream:
      return kernels.narrow_stream;
    case Variant::wide:
      return kernels.wide;
    case Variant::wide_stream:
      return kernels.wide_stream;
  }
  return nullptr;
}

struct Call {
  unsigned log_size = 3;
  std::size_t chunks = 1;
  std::size_t tail = 0;
  std::size_t wanted = 1;
  std::size_t vectors = 1;  // per shard
  Variant variant = Variant::wide;
};

std::string describe(const Call& call) {
  return "N = " + std::to_string(1U << call.log_size) + ", " + std::to_string(call.chunks) +
         " chunks and " + std::to_string(call.tail) + ", " + std::to_string(call.wanted) +
         " wanted, " + std::to_string(call.vectors) + " vectors, variant " +
         std::to_string(static_cast<int>(call.variant));
}

class CpuTransformsOf : public testing::TestWithParam<const CpuKernels*> {
 protected:
  const CpuKernels& kernels() const { return *GetParam(); }
  bool has(unsigned log_size, Variant variant) const {
    return kernel_of(kernels().transforms[log_size], variant) != nullptr;
  }

  // Calls the kernel as documented in cpu_kernels.hpp.
  testing::AssertionResult transforms(const Call& call) {
    const std::size_t bytes = call.vectors * kernels().transform_bytes;
    const std::size_t size = std::size_t{1} << call.log_size;
    const ir::Transform transform = conformance::encoding(
        random_,
        {.log_size = call.log_size, .data = call.chunks * size + call.tail, .values = call.wanted});
    const bool streams =
        call.variant == Variant::narrow_stream || call.variant == Variant::wide_stream;
    Shards inputs(random_, transform.places.size(), bytes);
    Shards outputs(random_, call.wanted, bytes, streams ? Alignment::to_vectors : Alignment::any);
    Shards sums(random_, 1, size * bytes, Alignment::to_vectors);
    const Shards inputs_before = inputs;
    Shards expected = outputs;
    const Shards sums_before = sums;

    std::array<std::uint8_t, 256> points;
    std::ranges::copy(transform.points, points.begin());
    std::vector<std::byte> tables(256 * table_entry_bytes(kernels().table_kind));
    tables_.gather(points, tables.data());
    const std::vector<std::byte*> in = inputs.pointers();
    const std::vector<const std::byte*> sources(in.begin(), in.end());
    const std::vector<std::byte*> targets = outputs.pointers();
    kernel_of(kernels().transforms[call.log_size], call.variant)({.inputs = sources.data(),
                                                                  .chunks = call.chunks,
                                                                  .tail = call.tail,
                                                                  .outputs = targets.data(),
                                                                  .wanted = call.wanted,
                                                                  .points = tables.data(),
                                                                  .bytes = bytes,
                                                                  .sums = sums.pointers()[0]});
    if (streams) kernels().fence();

    ir::interpret(ir::expand(transform), sources, expected.pointers(), bytes, false);
    // Only the border of the sums matters.
    Shards sums_expected = sums_before;
    std::copy_n(sums.pointers()[0], size * bytes, sums_expected.pointers()[0]);
    std::string wrong = outputs.difference_to(expected);
    if (wrong.empty()) wrong = inputs.difference_to(inputs_before);
    if (wrong.empty()) wrong = sums.difference_to(sums_expected);
    if (wrong.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << wrong << ": " << describe(call);
  }

  // The device's kernel of the transform, for `work`.
  testing::AssertionResult runs(const ir::Transform& transform, const Work& work) {
    const ir::Program program = ir::expand(transform);
    return conformance::agrees(*device_, random_, device_->compile_transform(transform), program,
                               work);
  }

  const gf::FieldRef field_ = *gf::Field::create(8, 0);
  const CoefficientTables tables_ = CoefficientTables(*field_, GetParam()->table_kind);
  const std::unique_ptr<Device> device_ = *open_cpu(GetParam()->name);
  Random random_{20250101};
};

INSTANTIATE_TEST_SUITE_P(paths, CpuTransformsOf, testing::ValuesIn(usable_paths()),
                         [](const auto& path) { return test_name_of(path.param); });

TEST_P(CpuTransformsOf, narrow_kernels) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    for (const Variant variant : {Variant::narrow, Variant::narrow_stream}) {
      if (!has(log_size, variant)) continue;
      for (std::size_t chunks = 1; chunks <= 4; ++chunks) {
        for (const std::size_t tail : {std::size_t{0}, std::size_t{4}, size / 2}) {
          for (std::size_t wanted = size / 2 + 1; wanted <= size; ++wanted) {
            ASSERT_TRUE(transforms({.log_size = log_size,
                                    .chunks = chunks,
                                    .tail = tail,
                                    .wanted = wanted,
                                    .vectors = 1 + wanted % 3,
                                    .variant = variant}));
          }
        }
      }
    }
  }
}

TEST_P(CpuTransformsOf, wide_kernels) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    const std::size_t step = kernels().transforms[log_size].wide_tail;
    ASSERT_EQ(size % step, 0U);
    for (const Variant variant : {Variant::wide, Variant::wide_stream}) {
      if (!has(log_size, variant)) continue;
      for (std::size_t chunks = 1; chunks <= 3; ++chunks) {
        for (std::size_t tail = 0; tail < size; tail += step) {
          if (size + chunks * size + tail > 256) continue;
          for (std::size_t wanted = 1; wanted <= size; wanted += 1 + size / 11) {
            ASSERT_TRUE(transforms({.log_size = log_size,
                                    .chunks = chunks,
                                    .tail = tail,
                                    .wanted = wanted,
                                    .vectors = 1 + wanted % 3,
                                    .variant = variant}));
          }
        }
      }
    }
  }
}

TEST_P(CpuTransformsOf, streams_where_matrices_do) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    EXPECT_TRUE(has(log_size, Variant::wide));
    EXPECT_EQ(has(log_size, Variant::wide_stream), kernels().fence != nullptr);
    EXPECT_EQ(has(log_size, Variant::narrow_stream),
              has(log_size, Variant::narrow) && kernels().fence != nullptr);
  }
}

// Shapes that a runner treats differently: fewer inputs than N, chunks with and without a rest,
// wide.
std::vector<conformance::TransformShape> shapes_of(unsigned log_size) {
  const std::size_t size = std::size_t{1} << log_size;
  const std::size_t room = 256 - size;
  return {{log_size, size / 2 + 1, size},
          {log_size, std::min(room, 2 * size), size - 1},
          {log_size, std::min(room, 2 * size + 3), size / 2},
          {log_size, std::min(room, 3 * size + size / 2 + 1), size / 2 + 1}};
}

std::vector<std::size_t> border_lengths() {
  std::vector<std::size_t> lengths;
  for (std::size_t bytes = 0; bytes <= 300; ++bytes)
    lengths.push_back(bytes);
  lengths.insert(lengths.end(),
                 {511, 512, 513, 1023, 1024, 1025, 2047, 2049, 4095, 4096, 4097, 5000});
  return lengths;
}

// Lengths around vectors and blocks, with every kind of store, though not in every shape. The
// interpreter is ten times slower under a sanitizer.
#if defined(__SANITIZE_ADDRESS__)
constexpr int thinning = 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int thinning = 10;
#else
constexpr int thinning = 1;
#endif
#else
constexpr int thinning = 1;
#endif

TEST_P(CpuTransformsOf, lengths_stores_and_alignments) {
  struct Way {
    Stores stores;
    Alignment alignment;
    bool accumulate;
  };
  constexpr std::array<Way, 5> ways = {{{Stores::cached, Alignment::any, false},
                                        {Stores::streaming, Alignment::any, false},
                                        {Stores::streaming, Alignment::equal, false},
                                        {Stores::streaming, Alignment::to_vectors, false},
                                        {Stores::streaming, Alignment::equal, true}}};
  std::size_t number = 0;
  std::size_t turn = 0;
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    const auto shapes = shapes_of(log_size);
    for (const std::size_t bytes : border_lengths()) {
      for (const Way& way : ways) {
        ++number;
        // Interpreting is slow, so not every combination is tested.
        const auto at = static_cast<std::size_t>(&way - ways.data());
        const bool is_its_turn = bytes <= 130   ? log_size <= 4 || (bytes + at) % 3 == log_size - 5
                                 : bytes <= 300 ? bytes % 5 == at && bytes / 5 % 5 == log_size - 3
                                                : (bytes + at) % 5 == log_size - 3;
        if (!is_its_turn || ++turn % std::size_t{thinning} != 0) continue;
        const auto transform = conformance::encoding(random_, shapes[number % shapes.size()]);
        Work work{.geometry = {.offset = number % 3 == 0 ? number % 70 : 0, .unit_bytes = bytes},
                  .accumulate = way.accumulate,
                  .stores = way.stores,
                  .alignment = way.alignment};
        if (number % 5 == 0 && bytes < 600) work.stripe_count = 3;
        ASSERT_TRUE(runs(transform, work));
      }
    }
  }
}

TEST_P(CpuTransformsOf, finished_added_and_with_gaps) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    for (int round = 0; round < 60; round += thinning) {
      const std::size_t bytes = round % 12 == 0 ? 1000 + random_.below(4000) : random_.below(300);
      const Work work{.geometry = {.offset = random_.below(70), .unit_bytes = bytes},
                      .stripe_count = random_.one_in(4) ? 2U : 1U,
                      .accumulate = random_.coin(),
                      .stores = static_cast<Stores>(random_.below(3)),
                      .alignment = static_cast<Alignment>(random_.below(3))};
      ASSERT_TRUE(runs(conformance::random_transform(random_, log_size), work));
    }
  }
}

// The number of values need not be a power of two, and may be one more than that. Outputs are in
// one coset, or in two of which one has values.
TEST_P(CpuTransformsOf, interpolates_any_number_of_values) {
  for (unsigned log_size = 3; log_size <= 7; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    const std::size_t step = log_size < 6 ? 1 : 3;
    for (std::size_t count = 1; count <= size; count += step) {
      ir::Transform transform{
          .field = field_, .points = conformance::layered_points(), .log_size = log_size};
      transform.places = conformance::random_places(random_, 0, count, false);
      for (const std::size_t first : {size, size - 1 - random_.below(size / 2)}) {
        ir::Locator& locator = transform.locator.emplace(ir::Locator{.interpolates = true});
        for (std::size_t place = first; place < size + size / 2; ++place)
          locator.outputs.push_back({.place = static_cast<std::uint16_t>(place)});
        const Work work{.geometry = {.unit_bytes = 67}, .accumulate = random_.coin()};
        ASSERT_TRUE(runs(transform, work)) << count << " of " << size << " at " << first;
      }
    }
  }
}

// From one whole coset to another: one pass, for sizes up to twice what fits into the registers.
TEST_P(CpuTransformsOf, transforms_between_cosets) {
  for (unsigned log_size = 3; log_size <= 6; ++log_size) {
    const std::size_t size = std::size_t{1} << log_size;
    for (const bool has_factors : {false, true}) {
      ir::Transform transform{
          .field = field_, .points = conformance::layered_points(), .log_size = log_size};
      transform.places = conformance::random_places(random_, 0, size, false);
      ir::Locator& locator = transform.locator.emplace();
      for (const std::uint16_t place :
           conformance::random_places(random_, 2 * size, 3 * size - 1, has_factors)) {
        const auto factor = static_cast<gf::Element>(has_factors ? 1 + random_.below(255) : 1);
        locator.outputs.push_back({.place = place, .factor = factor});
      }
      for (const Stores stores : {Stores::cached, Stores::streaming}) {
        for (const bool accumulate : {false, true}) {
          const Work work{.geometry = {.unit_bytes = 2100},
                          .accumulate = accumulate,
                          .stores = stores,
                          .alignment = Alignment::equal};
          ASSERT_TRUE(runs(transform, work)) << size << " values, " << has_factors;
        }
      }
    }
  }
}

// Half a coset and a tail to the rest of it.
ir::Transform with_tail(Random& random, const gf::FieldRef& field, std::size_t tail,
                        bool with_gaps) {
  ir::Transform transform{.field = field, .points = conformance::layered_points(), .log_size = 5};
  transform.places = conformance::random_places(random, 0, 16 + tail, false);
  random.shuffle(std::span(transform.places));
  ir::Locator& locator = transform.locator.emplace(ir::Locator{.interpolates = true});
  for (const std::uint16_t place : conformance::random_places(random, 16 + tail, 32, with_gaps))
    locator.outputs.push_back({.place = place});
  random.shuffle(std::span(locator.outputs));
  return transform;
}

// One pass, with and without a matrix for short shards.
TEST_P(CpuTransformsOf, transforms_half_a_coset_and_a_tail) {
  for (const std::size_t tail : {std::size_t{4}, std::size_t{8}}) {
    for (const bool has_rows : {false, true}) {
      ir::Transform transform = with_tail(random_, field_, tail, has_rows);
      if (has_rows) transform.rows = ir::linear_map(ir::expand(transform));
      for (const Stores stores : {Stores::cached, Stores::streaming}) {
        for (const bool accumulate : {false, true}) {
          const Work work{.geometry = {.offset = random_.below(70), .unit_bytes = 2100},
                          .accumulate = accumulate,
                          .stores = stores,
                          .alignment = Alignment::equal};
          ASSERT_TRUE(runs(transform, work)) << "16 and " << tail << ", " << has_rows;
        }
      }
    }
  }
}

TEST(TailLayers, are_those_of_this_form_alone) {
  Random random(7);
  const gf::FieldRef field = *gf::Field::create(8, 0);
  const ir::Transform transform = with_tail(random, field, 4, false);
  EXPECT_EQ(tail_layers(transform), 2U);
  EXPECT_EQ(tail_layers(with_tail(random, field, 8, true)), 3U);
  for (const std::size_t tail : {1U, 2U, 3U, 5U, 7U, 9U, 15U})
    EXPECT_EQ(tail_layers(with_tail(random, field, tail, false)), 0U) << tail;
  const auto layers_after = [&](const auto& change) {
    ir::Transform changed = transform;
    change(changed);
    return tail_layers(changed);
  };
  EXPECT_EQ(layers_after([](auto& t) { t.locator->outputs[2].factor = 2; }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.locator->outputs[2].place = 19; }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.locator->outputs[2].place = 32; }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.locator->interpolates = false; }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.locator->coset_scales.assign(8, 1); }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.locator.reset(); }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { t.log_size = 6; }), 0U);
  EXPECT_EQ(layers_after([](auto& t) { *std::ranges::max_element(t.places) = 40; }), 0U);
}

// Larger than a core's own cache: longer blocks, and streaming without a hint.
TEST_P(CpuTransformsOf, batches_beyond_the_cache) {
  const std::size_t most = 2 * core_cache_bytes();
  if (most > std::size_t{16} << 20) GTEST_SKIP() << "the cache has " << most / 2 << " bytes";
  for (const unsigned log_size : {3U, 4U, 6U}) {
    auto transform = conformance::encoding(random_, shapes_of(log_size)[0]);
    if (log_size == 4) {
      transform.finish = conformance::random_matrix(
          random_, *field_, {.rows = 2, .columns = transform.values.size()});
    }
    const std::size_t shards = transform.places.size() + transform.outputs();
    const Work work{.geometry = {.unit_bytes = 5001},
                    .stripe_count = most / (5001 * shards) + 1,
                    .alignment = Alignment::equal};
    ASSERT_TRUE(runs(transform, work));
  }
}

}  // namespace
}  // namespace calpe::backend::cpu
