// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.hpp"

#include <gtest/gtest.h>

#include "base/env.hpp"
#include "support/environment_scope.hpp"

namespace calpe {
namespace {

constexpr std::uint32_t bit(unsigned index) {
  return std::uint32_t{1} << index;
}

// A CPU with all features and an operating system that saves all registers.
constexpr CpuidWords everything = {
    .leaf1_ecx = bit(9) | bit(27) | bit(28),
    .leaf7_ebx = bit(5) | bit(16) | bit(30) | bit(31),
    .leaf7_ecx = bit(8),
    .xcr0 = 0xE7,
};

TEST(CpuFeatures, all_when_cpu_and_system_agree) {
  const CpuFeatures expected = {
      .ssse3 = true, .avx2 = true, .gfni = true, .avx512 = true, .neon = false};
  EXPECT_EQ(decode_cpuid(everything), expected);
}

TEST(CpuFeatures, none_when_cpuid_reports_none) {
  EXPECT_EQ(decode_cpuid({}), CpuFeatures{});
}

TEST(CpuFeatures, no_avx512_when_the_system_does_not_save_zmm) {
  CpuidWords words = everything;
  for (const std::uint64_t xcr0 : {0x07U, 0x27U, 0x67U, 0xA7U, 0xC7U}) {
    words.xcr0 = xcr0;
    EXPECT_FALSE(decode_cpuid(words).avx512) << xcr0;
    EXPECT_TRUE(decode_cpuid(words).avx2) << xcr0;
  }
}

TEST(CpuFeatures, no_avx2_when_the_system_does_not_save_ymm) {
  CpuidWords words = everything;
  for (const std::uint64_t xcr0 : {0x00U, 0x01U, 0x03U, 0x05U, 0xE1U}) {
    words.xcr0 = xcr0;
    EXPECT_FALSE(decode_cpuid(words).avx2) << xcr0;
    EXPECT_FALSE(decode_cpuid(words).avx512) << xcr0;
    EXPECT_TRUE(decode_cpuid(words).ssse3) << xcr0;
  }
  words = everything;
  words.leaf1_ecx &= ~bit(27);  // xgetbv does not exist
  EXPECT_FALSE(decode_cpuid(words).avx2);
}

TEST(CpuFeatures, avx512_needs_each_extension_that_kernels_are_compiled_for) {
  for (const unsigned extension : {16U, 30U, 31U}) {
    CpuidWords words = everything;
    words.leaf7_ebx &= ~bit(extension);
    EXPECT_FALSE(decode_cpuid(words).avx512) << extension;
  }
}

TEST(CpuFeatures, of_this_machine_do_not_change) {
  EXPECT_EQ(cpu_features(), cpu_features());
#if defined(__aarch64__)
  EXPECT_TRUE(cpu_features().neon);
#endif
}

TEST(Environment, unset_and_empty_are_nullopt) {
  const tests::EnvironmentScope unset("CALPE_TEST_VARIABLE", std::nullopt);
  EXPECT_EQ(environment("CALPE_TEST_VARIABLE"), std::nullopt);
  const tests::EnvironmentScope empty("CALPE_TEST_VARIABLE", "");
  EXPECT_EQ(environment("CALPE_TEST_VARIABLE"), std::nullopt);
  const tests::EnvironmentScope set("CALPE_TEST_VARIABLE", "avx2");
  EXPECT_EQ(environment("CALPE_TEST_VARIABLE"), "avx2");
}

}  // namespace
}  // namespace calpe
