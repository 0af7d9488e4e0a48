// SPDX-License-Identifier: Apache-2.0
// Emitted texts, built as their users would and compared with the reference on random data.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "emit/emit.hpp"
#include "ir/program.hpp"

namespace calpe::tools {

struct RunOutcome {
  enum class Kind : std::uint8_t {
    equal,     // built, run, and every byte is the reference's
    accepted,  // by a compiler; not run
    skipped,   // something is missing here
    wrong,     // refused, failed or other bytes
  };
  Kind kind = Kind::skipped;
  std::string text = {};  // what was done, or why not
};

// "equal", "accepted", "skipped", "WRONG"
std::string_view to_string(RunOutcome::Kind kind);

// Emits and builds in a folder that is removed again.
RunOutcome compile_and_run(const ir::Program& program, emit::Target target,
                           const emit::Options& options, std::uint64_t seed);

}  // namespace calpe::tools
