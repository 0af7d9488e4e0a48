// SPDX-License-Identifier: Apache-2.0
// What compiled code is: all that decides its bytes, compared in full and never by hash alone. A
// cache that asks for less hands out the decoder of another loss.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace calpe::kernel {

struct Identity {
  std::string target = {};    // "openmp": who can load the result
  std::string compiler = {};  // its file and what it says about its version
  std::vector<std::string> flags =
      {};                   // in order; no "native", which means something else elsewhere
  std::string source = {};  // the whole text; the program and its options are in it
};

// Equal contents are equal identities: every part with its length before it.
std::string content(const Identity& identity);

// 32 hexadecimal digits of XXH3-128: a name for a file, not a proof of anything.
std::string digest(std::string_view content);

}  // namespace calpe::kernel
