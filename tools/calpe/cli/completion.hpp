// SPDX-License-Identifier: Apache-2.0
// `calpe complete WORD...`, for the scripts in tools/completion: lists completions of the last
// word, which may be empty. Answers come from the CLI11 definitions, so the scripts need not list
// options.
//
// One answer per line, then a tab and its meaning. "<files>" or "<folders>" means that paths of
// this kind are valid as well. The shell drops answers that do not start with the word.
#pragma once
#include <CLI/CLI.hpp>
#include <span>

namespace calpe::tools {

// Takes argv. `complete` is not a CLI11 verb, so --help does not list it, and options of other
// verbs are not parsed as its own.
bool is_completion_asked(std::span<const char* const> arguments);
int print_completions(const CLI::App& app, std::span<const char* const> arguments);

}  // namespace calpe::tools
