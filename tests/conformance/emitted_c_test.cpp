// SPDX-License-Identifier: Apache-2.0
// Compiles emitted C, with and without OpenMP, with gcc and clang as one file, and runs it.
#include <gtest/gtest.h>
#include <optional>

#include "base/cpu_features.hpp"
#include "conformance/trial.hpp"
#include "conformance/xor_cases.hpp"
#include "emit/emit.hpp"
#include "emit/shards_work.hpp"
#include "support/emitted_cases.hpp"
#include "support/emitted_units.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {
namespace {

using conformance::Random;

struct Compiler {
  std::string_view name;
  emit::Target target;
  bool widest_vectors;  // of this CPU; otherwise the compiler's default
  std::size_t every;    // compile one program in `every`; all with CALPE_NIGHTLY
};

void PrintTo(const Compiler& compiler, std::ostream* out) {  // GoogleTest finds it by this name
  *out << compiler.name << (compiler.target == emit::Target::openmp ? " openmp" : "");
}

bool is_openmp(const Compiler& compiler) {
  return compiler.target == emit::Target::openmp;
}

// Every other source has a constant unit length: vectors and a tail, whatever their width.
constexpr std::size_t baked_bytes = 203;
std::size_t baked_of(std::size_t index) {
  return index % 2 == 0 ? 0 : baked_bytes;
}

std::string all_texts(const std::vector<EmittedCase>& cases, emit::Target target) {
  std::string all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto arrays =
        emit::emit(cases[i].program, target, {.unit_bytes = baked_of(i), .name = cases[i].name});
    const auto shards = emit::emit(cases[i].program, target,
                                   {.name = cases[i].name + "_s", .form = emit::Form::shards});
    EXPECT_TRUE(arrays && shards) << cases[i].name;
    if (arrays && shards) all += *arrays + "\n" + *shards + "\n";
  }
  return all;
}

std::vector<std::string> vector_flags() {
  const CpuFeatures& features = cpu_features();
  if (features.avx512) return {"-mavx512f", "-mavx512bw"};
  if (features.avx2) return {"-mavx2"};
  return {};
}

void check_arrays(const Loaded& loaded, const EmittedCase& test, std::size_t baked, int threads) {
  Random random = Random::of_test(test.name);
  const bool openmp = threads != 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{64}, baked_bytes}) {
    if (baked != 0 && bytes != baked) continue;
    const std::size_t stride = baked != 0 ? baked : bytes + 5;
    EmittedUnits units(random, test.program, bytes, stride);
    using Bytes = unsigned char;
    const std::string& name = test.name;
    if (baked != 0 && openmp) {
      loaded.find<void(const Bytes*, Bytes*, int)>(name)(units.n(), units.r(), threads);
    } else if (baked != 0) {
      loaded.find<void(const Bytes*, Bytes*)>(name)(units.n(), units.r());
    } else if (openmp) {
      loaded.find<void(const Bytes*, Bytes*, std::size_t, std::size_t, int)>(name)(
          units.n(), units.r(), bytes, stride, threads);
    } else {
      loaded.find<void(const Bytes*, Bytes*, std::size_t, std::size_t)>(name)(units.n(), units.r(),
                                                                              bytes, stride);
    }
    EXPECT_TRUE(units.take_result()) << name << ", unit_bytes " << bytes;
  }
}

void check_shards(const Loaded& loaded, const EmittedCase& test, int threads) {
  Random random = Random::of_test(test.name);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{7}, std::size_t{203}, std::size_t{4500}}) {
    if (bytes > 1000 && !random.one_in(8)) continue;
    const conformance::Work work = {
        .geometry = conformance::strided(random, bytes, test.program.unit_count()),
        .stripe_count = random.between<std::size_t>(0, 3),
        .accumulate = random.coin(),
        .same_input = random.one_in(4)};
    conformance::Trial trial(random, test.program, work);
    const backend::Batch batch = trial.batch();
    const emit::ShardsWork shards = {
        .stripe_count = batch.stripe_count,
        .n = reinterpret_cast<const unsigned char* const*>(batch.inputs),
        .r = reinterpret_cast<unsigned char* const*>(batch.outputs),
        .offset = batch.geometry.offset,
        .unit_bytes = batch.geometry.unit_bytes,
        .unit_stride = batch.geometry.unit_stride,
        .group_stride = batch.geometry.group_stride,
        .group_count = batch.geometry.group_count,
        .accumulate = batch.accumulate ? 1 : 0,
        .threads = threads};
    loaded.find<void(const emit::ShardsWork*)>(test.name + "_s")(&shards);
    EXPECT_TRUE(trial.check()) << test.name;
  }
}

void compile_and_run(const Compiler& compiler, const std::string& optimisation,
                     const std::vector<EmittedCase>& cases) {
  const std::optional<std::string> program = find_program(compiler.name);
  if (!program) GTEST_SKIP() << compiler.name << " is not installed";
  const Workshop workshop;
  const std::string source = workshop.write("emitted.c", all_texts(cases, compiler.target));
  std::vector<std::string> command = {*program, "-std=c11", optimisation, "-fPIC",
                                      "-Wall",  "-Wextra",  "-pedantic",  "-Wmissing-prototypes",
                                      "-Werror"};
  if (is_openmp(compiler)) command.emplace_back("-fopenmp");
  if (compiler.widest_vectors) {
    for (const std::string& flag : vector_flags())
      command.push_back(flag);
  }
  std::vector<std::string> to_object = command;
  to_object.insert(to_object.end(), {"-c", source, "-o", workshop.path("emitted.o")});
  ASSERT_TRUE(Workshop::run(to_object));
  command.insert(command.end(),
                 {"-shared", workshop.path("emitted.o"), "-o", workshop.path("emitted.so")});
  if (const auto linked = Workshop::run(command); !linked) {
    // clang is packaged without its OpenMP run time.
    ASSERT_TRUE(is_openmp(compiler)) << linked.message();
    GTEST_SKIP() << "compiled, not run: " << linked.message();
  }
  const Loaded loaded(workshop.path("emitted.so"));
  for (std::size_t i = 0; i < cases.size() && !testing::Test::HasFailure(); ++i) {
    check_arrays(loaded, cases[i], baked_of(i), is_openmp(compiler) ? 2 : 0);
    check_shards(loaded, cases[i], is_openmp(compiler) ? 2 : 1);
  }
  std::cout << cases.size() << " programs, " << conformance::repeat_with() << '\n';
}

std::vector<EmittedCase> sample(std::size_t every) {
  const std::vector<EmittedCase> all = emitted_cases();
  std::vector<EmittedCase> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % every == 0 || std::getenv("CALPE_NIGHTLY") != nullptr) some.push_back(all[i]);
  }
  return some;
}

class EmittedC : public testing::TestWithParam<Compiler> {};

TEST_P(EmittedC, compiles_and_equals_the_interpreter) {
  compile_and_run(GetParam(), "-O0", sample(GetParam().every));
}

TEST_P(EmittedC, equals_the_interpreter_when_optimised) {
  compile_and_run(GetParam(), "-O2", sample(23));
}

// Together these cover every program in C and with OpenMP; clang is faster.
INSTANTIATE_TEST_SUITE_P(all, EmittedC,
                         testing::Values(Compiler{"gcc", emit::Target::c, true, 1},
                                         Compiler{"gcc", emit::Target::openmp, false, 7},
                                         Compiler{"clang", emit::Target::c, false, 7},
                                         Compiler{"clang", emit::Target::openmp, true, 1}));

}  // namespace
}  // namespace calpe::tests
