// SPDX-License-Identifier: Apache-2.0
// The kernel tables of this build that this CPU can run.
#pragma once
#include <string>
#include <vector>

#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/path_choice.hpp"

namespace calpe::backend::cpu {

inline std::vector<const CpuKernels*> usable_paths() {
  std::vector<const CpuKernels*> paths;
  for (const BackendStatus& row : list_cpu()) {
    const std::string_view name = row.name;
    if (row.available && name.starts_with("cpu:")) paths.push_back(*find_kernels(name.substr(4)));
  }
  return paths;
}

// GoogleTest allows only letters, digits and underscores.
inline std::string test_name_of(const CpuKernels* kernels) {
  std::string name = kernels->name;
  for (char& letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
}

}  // namespace calpe::backend::cpu
