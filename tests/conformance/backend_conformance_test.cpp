// SPDX-License-Identifier: Apache-2.0
// One suite for all backends: every case on every row that a backend lists. A backend that is not
// available is skipped with its reason.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "conformance/exceptions.hpp"
#include "conformance/gf_cases.hpp"
#include "conformance/seam_cases.hpp"
#include "conformance/transform_cases.hpp"
#include "conformance/xor_cases.hpp"
#include "support/environment_scope.hpp"
#include "support/scratch_folder.hpp"
#include "support/with_reram.hpp"

namespace calpe::conformance {
namespace {

struct Case {
  std::string_view name;
  testing::AssertionResult (*run)(backend::Device& device, Random& random);
};

constexpr std::array cases = {
    Case{"gf_lengths", gf_lengths},
    Case{"gf_shapes", gf_shapes},
    Case{"gf_wide", gf_wide},
    Case{"gf_zeros_and_ones", gf_zeros_and_ones},
    Case{"gf_multiplication_table", gf_multiplication_table},
    Case{"gf_shared_values", gf_shared_values},
    Case{"transform_kinds", transform_kinds},
    Case{"transform_lengths", transform_lengths},
    Case{"transform_inputs", transform_inputs},
    Case{"transform_of_all_places", transform_of_all_places},
    Case{"kernels_outlive_transforms", kernels_outlive_transforms},
    Case{"xor_lowered", xor_lowered},
    Case{"xor_lengths", xor_lengths},
    Case{"xor_strides", xor_strides},
    Case{"xor_stores", xor_stores},
    Case{"xor_shared_values", xor_shared_values},
    Case{"batches", batches},
    Case{"inputs_may_be_the_same", inputs_may_be_the_same},
    Case{"accumulate_reads_no_memory", accumulate_reads_no_memory},
    Case{"completions", completions},
    Case{"two_threads", two_threads},
    Case{"kernels_outlive_programs", kernels_outlive_programs},
    Case{"refusals", refusals},
};

// Kernels run generic code until they are compiled: test once before and once after that.
struct Compiling {
  std::string_view backend;
  Sampling sampling;      // of compiled kernels: drivers take a second each
  Sampling generic = {};  // of the generic code: an interpreter is slow
};
constexpr std::array compiling_backends = {
    Compiling{"openmp", {.one_in = 5, .works = 4}},
    Compiling{"opencl", {.one_in = 300, .works = 30, .one_transform_in = 60}},
    Compiling{"cuda", {.one_in = 10, .works = 6, .one_transform_in = 40}, {.one_transform_in = 4}},
    Compiling{
        "vulkan", {.one_in = 300, .works = 30, .one_transform_in = 60}, {.one_transform_in = 10}},
};
const Compiling* compiling(std::string_view device) {
  const std::string_view backend = device.substr(0, device.find(':'));
  const auto found = std::ranges::find(compiling_backends, backend, &Compiling::backend);
  return found == compiling_backends.end() ? nullptr : &*found;
}

struct Parameter {
  backend::BackendStatus row;
  Case test;
  bool waits = false;
  std::string name() const {
    return row.name + (waits ? " compiled " : " ") + std::string(test.name);
  }
};

void PrintTo(const Parameter& parameter, std::ostream* out) {  // GoogleTest finds it by this name
  *out << parameter.name();
}

std::vector<Parameter> all_parameters() {
  std::vector<Parameter> all;
  for (const backend::Backend& backend : backend::registered_backends()) {
    for (const backend::BackendStatus& row : backend.list()) {
      for (const Case& test : cases) {
        all.push_back({row, test});
        if (compiling(backend.name) != nullptr) all.push_back({row, test, true});
      }
    }
  }
  return all;
}

class BackendConformance : public testing::TestWithParam<Parameter> {
 protected:
  static void SetUpTestSuite() { std::cout << repeat_with() << '\n'; }
  void SetUp() override {
    const Compiling* const some = compiling(GetParam().row.name);
    if (some == nullptr) return;
    if (GetParam().waits) {
      sampling() = some->sampling;
    } else if (std::getenv("CALPE_NIGHTLY") == nullptr) {
      sampling() = some->generic;
    }
  }
  void TearDown() override { sampling() = {}; }
  const tests::ScratchFolder scratch_;
  bool is_openmp() const { return GetParam().row.name.starts_with("openmp"); }
  const tests::EnvironmentScope cache_{is_openmp() ? "CALPE_CACHE_DIR" : "CALPE_TEST_UNUSED",
                                       GetParam().waits ? scratch_.path("cache") : ""};
  const tests::EnvironmentScope table_{
      "CALPE_DEVICE_KERNELS",
      GetParam().waits ? std::nullopt : std::optional<std::string>("table")};
  const tests::EnvironmentScope wait_{
      "CALPE_WAIT_COMPILE", GetParam().waits ? std::optional<std::string>("1") : std::nullopt};
};

TEST_P(BackendConformance, agrees_with_interpreter) {
  const auto& [row, test, waits] = GetParam();
  if (!row.available) GTEST_SKIP() << row.name << ": " << row.reason;
  if (const auto reason = reason_in(unsupported, row.name, test.name)) {
    GTEST_SKIP() << "unsupported: " << *reason;
  }
  const auto device = backend::open_device(row.name);
  ASSERT_TRUE(device) << row.name << " is listed as available: " << device.error().message;
  // "cpu" opens as its chosen variant.
  const std::string name((*device)->name());
  EXPECT_TRUE(name == row.name || name.starts_with(row.name + ":")) << name;

  Random random = Random::of_test(test.name);
  const testing::AssertionResult result = test.run(**device, random);
  if (const auto reason = reason_in(expected_failure, row.name, test.name)) {
    ASSERT_FALSE(result) << "passes, delete it from expected_failure: " << *reason;
    GTEST_SKIP() << "fails as expected: " << *reason << ": " << result.message();
  }
  EXPECT_TRUE(result) << repeat_with();
}

INSTANTIATE_TEST_SUITE_P(all, BackendConformance, testing::ValuesIn(all_parameters()),
                         [](const auto& parameter) {
                           std::string name = parameter.param.name();
                           for (char& letter : name) {
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
                               letter = '_';
                           }
                           return name;
                         });

TEST(BackendExceptions, are_for_a_device_or_for_all_of_a_backend) {
  constexpr std::array list = {Exception{"opencl", "batches", "all"},
                               Exception{"opencl:1", "gf_wide", "one"}};
  EXPECT_EQ(reason_in(list, "opencl:0", "batches"), "all");
  EXPECT_EQ(reason_in(list, "opencl", "batches"), "all");
  EXPECT_EQ(reason_in(list, "opencl:1", "gf_wide"), "one");
  EXPECT_EQ(reason_in(list, "opencl:0", "gf_wide"), std::nullopt);
  EXPECT_EQ(reason_in(list, "cpu:avx2", "batches"), std::nullopt);
}

// A misspelt exception would silently have no effect.
TEST(BackendExceptions, name_backends_and_cases_that_exist) {
  for (const auto list : {unsupported, expected_failure}) {
    for (const Exception& exception : list) {
      const bool has_case =
          std::ranges::any_of(cases, [&](const Case& test) { return test.name == exception.test; });
      const bool has_backend =
          std::ranges::any_of(backend::registered_backends(), [&](const backend::Backend& backend) {
            return backend.name == exception.device.substr(0, exception.device.find(':'));
          });
      EXPECT_TRUE(has_case) << exception.test;
      EXPECT_TRUE(has_backend) << exception.device;
      EXPECT_FALSE(exception.reason.empty()) << exception.device << " " << exception.test;
    }
  }
}

}  // namespace
}  // namespace calpe::conformance
