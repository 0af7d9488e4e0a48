// SPDX-License-Identifier: Apache-2.0
// Features that this CPU has and the operating system supports.
#pragma once
#include <cstddef>
#include <cstdint>

namespace calpe {

struct CpuFeatures {
  bool ssse3 = false;
  bool avx2 = false;
  bool gfni = false;    // the instruction; its 32 and 64 byte forms also need avx2 or avx512
  bool avx512 = false;  // F, BW and VL, for which our kernels are compiled
  bool neon = false;
  bool operator==(const CpuFeatures&) const = default;
};

// The words of CPUID and XGETBV used here, so that tests can simulate other machines.
struct CpuidWords {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint64_t xcr0 = 0;  // registers saved by the operating system; 0 if unknown
};

// Ignores instructions whose registers the operating system does not save: using them would fault
// or mix the data of two processes.
CpuFeatures decode_cpuid(const CpuidWords& words) noexcept;

// Features of this machine, detected once.
const CpuFeatures& cpu_features() noexcept;

// Size of the largest cache private to a core, the L2; 1 MiB if unknown.
std::size_t core_cache_bytes() noexcept;

}  // namespace calpe
