// SPDX-License-Identifier: Apache-2.0
// Compares the two listings of P. Sobe (5+2, w = 3, direct and iterative) in every target, byte for
// byte, with golden/emit. CALPE_UPDATE_GOLDEN=1 rewrites those files: check the difference before
// committing.
#include "emit/emit.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "unit/ir/equations.hpp"

namespace calpe::emit {
namespace {

const std::filesystem::path folder = CALPE_TEST_DATA "/golden/emit";

struct GoldenText {
  std::string name;
  Target target;
  Form form = Form::arrays;
};

const std::vector<GoldenText> texts = {
    {"c", Target::c},
    {"openmp", Target::openmp},
    {"opencl", Target::opencl},
    {"cuda", Target::cuda},
    {"hip", Target::hip},
    {"ptx", Target::ptx},
    {"c_shards", Target::c, Form::shards},
    {"openmp_shards", Target::openmp, Form::shards},
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check(const GoldenText& golden, const std::string& listing, const ir::Program& program,
           std::size_t unit_bytes) {
  const std::size_t baked = golden.form == Form::shards ? 0 : unit_bytes;
  const auto made = emit(program, golden.target,
                         {.unit_bytes = baked,
                          .name = "crs",
                          .title = "Parameters: k=5, m=2, w=3",
                          .form = golden.form});
  ASSERT_TRUE(made) << made.error().message;
  const std::filesystem::path path = folder / (listing + "." + golden.name + ".txt");
  if (std::getenv("CALPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << *made;
  EXPECT_EQ(*made, read(path)) << path;
}

TEST(EmittedText, of_the_direct_listing_takes_lengths_as_parameters) {
  for (const GoldenText& golden : texts)
    check(golden, "listing_1", ir::program_of(ir::listing_1), 0);
}

TEST(EmittedText, of_the_iterative_listing_has_a_constant_length) {
  for (const GoldenText& golden : texts)
    check(golden, "listing_2", ir::program_of(ir::listing_2), 2048);
}

TEST(EmittedText, has_no_unused_golden_file) {
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++files;
  EXPECT_EQ(files, 2 * texts.size());
}

}  // namespace
}  // namespace calpe::emit
