// SPDX-License-Identifier: Apache-2.0
// `calpe complete WORD...`, for the scripts in tools/completion: what may stand in the place of the
// last word, which may be empty. The answer comes out of the options as they are, so that the
// scripts need not know any.
//
// One answer per line, a tab and what it means behind it; "<files>" or "<folders>" where names of
// these may stand, too. Answers that do not begin as the word does are left to the shell to drop.
#pragma once
#include <CLI/CLI.hpp>
#include <span>

namespace calpe::tools {

// Takes argv: it is none of the verbs, lest --help lists it and words such as --data are its own.
bool is_completion_asked(std::span<const char* const> arguments);
int print_completions(const CLI::App& app, std::span<const char* const> arguments);

}  // namespace calpe::tools
