// SPDX-License-Identifier: Apache-2.0
// A code as the user writes it, "10+4" or "lrc:12+2+2", and its properties for durability.
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
  unsigned parity = 4;  // lrc: local plus global
  unsigned groups = 0;  // lrc only
};

// [profile:]k+m, lrc:k+local+global.
Result<CodeChoice> parse_code(std::string_view text);
std::string name_of(const CodeChoice& choice);  // "10+4", "lrc 12+2+2", "cauchy 10+4"

// Uses the proof to find the recoverable losses (for lrc by trying every pattern), and the plan to
// find how many shards a rebuild reads. Fails with `unproven` if an MDS profile cannot rebuild some
// loss. Without parity, no code is needed.
struct KnownCode {
  Scheme scheme;
  std::vector<std::string> notes;
};
Result<KnownCode> know_code(const CodeChoice& choice);

}  // namespace calpe::durability
