// SPDX-License-Identifier: Apache-2.0
// Builds emitted source code as a user would and compares its results with the reference.
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
    equal,     // built and run; every byte matches the reference
    accepted,  // accepted by a compiler; not run
    skipped,   // a tool or device is missing
    wrong,     // rejected, failed, or produced other bytes
  };
  Kind kind = Kind::skipped;
  std::string text = {};  // what was done, or why not
};

// "equal", "accepted", "skipped", "WRONG"
std::string_view to_string(RunOutcome::Kind kind);

// Emits and builds in a temporary directory, which is then removed.
RunOutcome compile_and_run(const ir::Program& program, emit::Target target,
                           const emit::Options& options, std::uint64_t seed);

}  // namespace calpe::tools
