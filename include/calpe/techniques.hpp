// SPDX-License-Identifier: Apache-2.0
// Ways to compute that the library can be built without (CMake's CALPE_WITHOUT), with the same
// bytes by other ways.
#pragma once
#include <string_view>
#include <vector>

namespace calpe {

struct TechniqueInfo {
  std::string_view name;         // "avx512-gfni", "jit"
  std::string_view description;  // "products by affine maps of bytes, 64 bytes"
  bool built = false;            // false: left out of this build
};

// Every technique for this build's processor, in it or left out. Any thread; allocates.
std::vector<TechniqueInfo> list_techniques();

}  // namespace calpe
