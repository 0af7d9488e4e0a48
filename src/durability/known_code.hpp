// SPDX-License-Identifier: Apache-2.0
// A code as a person writes it, "10+4" or "lrc:12+2+2", and what durability needs to know of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>

#include "durability/scheme.hpp"

namespace calpe::durability {

struct CodeChoice {
  std::string profile = "default";
  unsigned data = 10;
  unsigned parity = 4;  // of an lrc: local and global
  unsigned groups = 0;  // lrc only
};

// [profile:]k+m, lrc:k+local+global.
Result<CodeChoice> parse_code(std::string_view text);
std::string name_of(const CodeChoice& choice);  // "10+4", "lrc 12+2+2", "cauchy 10+4"

// The proof decides: which losses the code survives, for lrc by trying every pattern, and how many
// shards a rebuild reads, by asking for the plan. `unproven` when some loss of an MDS profile
// cannot be rebuilt. No parity needs no code.
struct KnownCode {
  Scheme scheme;
  std::vector<std::string> notes;
};
Result<KnownCode> know_code(const CodeChoice& choice);

}  // namespace calpe::durability
