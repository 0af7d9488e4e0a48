// SPDX-License-Identifier: Apache-2.0
// Techniques: implementations that CMake's CALPE_WITHOUT can leave out of the build. The parity
// bytes stay the same.
#pragma once
#include <string_view>
#include <vector>

namespace calpe {

struct TechniqueInfo {
  std::string_view name;         // "avx512-gfni", "jit"
  std::string_view description;  // "products by affine maps of bytes, 64 bytes"
  bool built = false;            // false: left out of this build
};

// Returns every technique for this build's processor, built or left out. Thread-safe; allocates.
std::vector<TechniqueInfo> list_techniques();

}  // namespace calpe
