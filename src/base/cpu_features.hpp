// SPDX-License-Identifier: Apache-2.0
// What this CPU can do and this operating system lets it do.
#pragma once
#include <cstddef>
#include <cstdint>

namespace calpe {

struct CpuFeatures {
  bool ssse3 = false;
  bool avx2 = false;
  bool gfni = false;    // the instruction; its 32 and 64 byte forms also need avx2 or avx512
  bool avx512 = false;  // F, BW and VL: what our kernels are compiled for
  bool neon = false;
  bool operator==(const CpuFeatures&) const = default;
};

// The words of CPUID and XGETBV that decide, so that other machines can be tried in a test.
struct CpuidWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint64_t xcr0 = 0;  // registers that the operating system saves; 0 when it does not say
};

// A CPU may have instructions whose registers the operating system does not save: using those
// would fault or, worse, mix two processes' data. They do not count as features.
CpuFeatures decode_cpuid(const CpuidWords& words) noexcept;

// Of this machine; asked once.
const CpuFeatures& cpu_features() noexcept;

// The largest cache that a core has for itself, the L2; 1 MiB where the system does not say.
std::size_t core_cache_bytes() noexcept;

}  // namespace calpe
