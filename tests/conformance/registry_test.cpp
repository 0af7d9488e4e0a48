// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "conformance/random_program.hpp"
#include "support/with_reram.hpp"

namespace calpe::backend {
namespace {

std::string error_of(std::string_view name) {
  const auto device = open_device(name);
  return device ? "" : device.error().message;
}

TEST(Registry, unknown_names_are_refused_with_a_list_of_known_ones) {
  std::string known = "auto";
  for (const Backend& backend : registered_backends())
    known += ", " + std::string(backend.name);
  EXPECT_TRUE(known.starts_with("auto, cpu, ")) << known;
  for (const std::string name : {"abacus", "", "auto:fast"}) {
    EXPECT_EQ(error_of(name), "backend is \"" + name + "\"; expected one of " + known);
    EXPECT_EQ(open_device(name).error().code, ErrorCode::invalid_argument);
  }
}

TEST(Registry, an_added_backend_is_listed_before_reference) {
  const std::span<const Backend> all = registered_backends();
  ASSERT_GE(all.size(), 2);
  EXPECT_EQ(all[all.size() - 2].name, "reram");
  EXPECT_EQ(all.back().name, "reference");
  const auto device = open_device("reram");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->name(), "reram:reraid-fit");
}

TEST(Registry, variants_belong_to_their_backend) {
  EXPECT_EQ(error_of("reference:slow"), "reference has no variant \"slow\"; expected no variant");
  EXPECT_EQ(open_device("reference:slow").error().code, ErrorCode::invalid_argument);
  EXPECT_NE(error_of("cpu:abacus"), "");
}

TEST(Registry, auto_selects_an_eligible_backend) {
  const auto device = open_device("auto");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_TRUE((*device)->name().starts_with("cpu:")) << (*device)->name();
}

TEST(Registry, every_row_belongs_to_its_backend_and_unavailable_ones_have_a_reason) {
  for (const Backend& backend : registered_backends()) {
    EXPECT_FALSE(backend.list().empty()) << backend.name;
    for (const BackendStatus& row : backend.list()) {
      EXPECT_EQ(row.name.substr(0, row.name.find(':')), backend.name);
      EXPECT_FALSE(row.description.empty()) << row.name;
      EXPECT_EQ(row.available, row.reason.empty()) << row.name;
      const auto device = open_device(row.name);
      EXPECT_EQ(device.has_value(), row.available) << row.name;
      if (!device) {
        EXPECT_EQ(device.error().code, ErrorCode::backend_unavailable) << row.name;
      }
    }
  }
}

TEST(Reference, refuses_programs_it_cannot_interpret) {
  const auto device = open_device("reference");
  ASSERT_TRUE(device);
  const auto nibbles = (*device)->compile(ir::build(conformance::field_of(4), gf::Matrix(1, 1)));
  ASSERT_FALSE(nibbles);
  EXPECT_EQ(nibbles.error().code, ErrorCode::compile_failed);
  EXPECT_EQ(nibbles.error().message, "gf program has symbols of 4 bits; expected 8 or 16");

  const ir::Program unfinished(conformance::field_of(8), {.inputs = 1, .outputs = 1});
  const auto kernel = (*device)->compile(unfinished);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::compile_failed);
  EXPECT_EQ(kernel.error().message, "output 0 is never defined");
}

}  // namespace
}  // namespace calpe::backend
