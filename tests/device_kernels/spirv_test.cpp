// SPDX-License-Identifier: Apache-2.0
// Khronos' validator accepts every kind of SPIR-V module for Vulkan 1.2. tests/devices runs them.
#include <gtest/gtest.h>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.hpp"
#include "device_kernels/text_cases.hpp"
#include "emit/emit.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {
namespace {

emit::DeviceForm spirv_form(std::size_t word_bytes, std::size_t unit_stride = 0) {
  return {.language = emit::DeviceLanguage::spirv,
          .word_bytes = word_bytes,
          .unit_stride = unit_stride,
          .group_items = 128};
}

std::vector<TextCase> all_cases() {
  std::vector<TextCase> cases;
  for (const std::size_t word : {std::size_t{1}, std::size_t{4}, std::size_t{16}}) {
    for (const emit::TableStyle style : {emit::TableStyle::units, emit::TableStyle::planes})
      cases.push_back(table_case(style, spirv_form(word)));
    for (const CodeShape& shape : {CodeShape{3, 2, 8}, CodeShape{5, 2, 3}, CodeShape{10, 4, 8}}) {
      cases.push_back(planes_case(shape, spirv_form(word)));
      for (const std::size_t stride : {std::size_t{512}, std::size_t{0}})
        cases.push_back(units_case(shape, spirv_form(word, stride)));
    }
  }
  for (emit::DeviceForm form : {spirv_form(1), spirv_form(4), spirv_form(16)}) {
    form.accumulate = true;
    form.reduction = 0x87;  // with the highest bit, which doubling treats apart
    cases.push_back(units_case({5, 2, 3}, form));
    cases.push_back(planes_case({10, 4, 8}, form));
    cases.push_back(sliced_case({10, 4, 8}, form));
    cases.push_back(table_case(emit::TableStyle::planes, form));
  }
  // Several row groups.
  cases.push_back(planes_case({16, 16, 8}, spirv_form(4)));
  cases.push_back(sliced_case({16, 16, 8}, spirv_form(16)));
  return cases;
}

class DeviceSpirv : public testing::Test {
 protected:
  void SetUp() override {
    validator_ = find_program("spirv-val");
    if (!validator_) GTEST_SKIP() << "no spirv-val in PATH: install spirv-tools";
  }
  testing::AssertionResult validate(const std::string& module) const {
    return Workshop::run(
        {*validator_, "--target-env", "vulkan1.2", workshop_.write("module.spv", module)});
  }

 private:
  std::optional<std::string> validator_;
  Workshop workshop_;
};

TEST_F(DeviceSpirv, the_validator_accepts_all) {
  const std::vector<TextCase> cases = all_cases();
  for (const TextCase& test : cases)
    EXPECT_TRUE(validate(test.text.text)) << test.name;
  const code::Code code = cauchy_code({5, 2, 3});
  const ir::Program program =
      ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
  for (const std::size_t unit_bytes : {std::size_t{0}, std::size_t{2048}}) {
    const auto made = emit::emit(program, emit::Target::spirv, {.unit_bytes = unit_bytes});
    ASSERT_TRUE(made);
    EXPECT_TRUE(validate(*made)) << unit_bytes;
  }
  std::cout << cases.size() + 2 << " modules validated\n";
}

// The check above can fail: a wrong operand is reported.
TEST_F(DeviceSpirv, errors_are_detected) {
  std::string module = table_case(emit::TableStyle::units, spirv_form(4)).text.text;
  ASSERT_TRUE(validate(module));
  module[module.size() - 4] ^= 1;  // the last instruction ends the function
  EXPECT_FALSE(validate(module));
}

}  // namespace
}  // namespace calpe::tests
