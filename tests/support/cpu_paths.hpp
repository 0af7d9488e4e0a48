// SPDX-License-Identifier: Apache-2.0
// The tables of kernels that this CPU can run.
#pragma once
#include <string>
#include <vector>

#include "backend/cpu/cpu_kernels.hpp"
#include "base/cpu_features.hpp"

namespace calpe::backend::cpu {

inline std::vector<const CpuKernels*> usable_paths() {
  std::vector<const CpuKernels*> paths = {&kernels_scalar};
  [[maybe_unused]] const CpuFeatures& features = cpu_features();
#if defined(__x86_64__)
  if (features.ssse3) paths.push_back(&kernels_ssse3);
  if (features.avx2) paths.push_back(&kernels_avx2);
  if (features.avx2 && features.gfni) paths.push_back(&kernels_avx2_gfni);
  if (features.avx512) paths.push_back(&kernels_avx512);
  if (features.avx512 && features.gfni) paths.push_back(&kernels_avx512_gfni);
#elif defined(__aarch64__)
  paths.push_back(&kernels_neon);
#endif
  return paths;
}

// GoogleTest takes letters, digits and underscores only.
inline std::string test_name_of(const CpuKernels* kernels) {
  std::string name = kernels->name;
  for (char& letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
}

}  // namespace calpe::backend::cpu
