// SPDX-License-Identifier: Apache-2.0
// Identifies compiled code by everything that determines its bytes. Compared in full, never by hash
// alone: a collision would return the decoder of another loss.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace calpe::kernel {

struct Identity {
  std::string target = {};              // "openmp": the backend that can load the result
  std::string compiler = {};            // its file and its version output
  std::vector<std::string> flags = {};  // in order; not "native", which differs between machines
  std::string source = {};              // all source code, including the program and its options
};

// Equal contents are equal identities: every part is preceded by its length.
std::string content(const Identity& identity);

// 32 hexadecimal digits of XXH3-128, used as a file name only.
std::string digest(std::string_view content);

}  // namespace calpe::kernel
