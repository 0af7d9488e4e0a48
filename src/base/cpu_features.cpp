// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/platform.hpp"

namespace calpe {

namespace {

constexpr bool has_bits(std::uint64_t word, std::uint64_t bits) {
  return (word & bits) == bits;
}
constexpr std::uint32_t bit(unsigned index) {
  return std::uint32_t{1} << index;
}

CpuFeatures detect() noexcept {
#if defined(__x86_64__)
  CpuidWords words;
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) words.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    words.leaf7_ebx = ebx;
    words.leaf7_ecx = ecx;
  }
  if (has_bits(words.leaf1_ecx, bit(27))) {  // OSXSAVE: xgetbv exists
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));  // the intrinsic needs -mxsave
    words.xcr0 = std::uint64_t{high} << 32 | low;
  }
  return decode_cpuid(words);
#elif defined(__aarch64__)
  return {.neon = true};  // part of the base architecture
#else
  return {};
#endif
}

}  // namespace

CpuFeatures decode_cpuid(const CpuidWords& words) noexcept {
  constexpr std::uint64_t ymm_saved = 0x06;  // xmm, upper ymm
  constexpr std::uint64_t zmm_saved = 0xE6;  // and masks, upper zmm, zmm16..31
  const bool ymm = has_bits(words.leaf1_ecx, bit(27) | bit(28)) && has_bits(words.xcr0, ymm_saved);
  const bool zmm = ymm && has_bits(words.xcr0, zmm_saved);
  return {
      .ssse3 = has_bits(words.leaf1_ecx, bit(9)),
      .avx2 = ymm && has_bits(words.leaf7_ebx, bit(5)),
      .gfni = has_bits(words.leaf7_ecx, bit(8)),
      .avx512 = zmm && has_bits(words.leaf7_ebx, bit(5) | bit(16) | bit(30) | bit(31)),
      .neon = false,
  };
}

const CpuFeatures& cpu_features() noexcept {
  static const CpuFeatures features = detect();
  return features;
}

namespace {
// Detect both when the library is loaded. Otherwise fork() during the first call by another thread
// would leave the child waiting for that thread.
[[gnu::constructor]] void find_at_load() {
  static_cast<void>(cpu_features());
  static_cast<void>(core_cache_bytes());
}
}  // namespace

std::size_t core_cache_bytes() noexcept {
  static const std::size_t bytes = [] {
    const std::size_t found = platform::level2_cache_bytes();
    return found != 0 ? found : std::size_t{1} << 20;
  }();
  return bytes;
}

}  // namespace calpe
