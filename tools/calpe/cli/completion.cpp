// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/completion.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>

#include "backend/backend.hpp"
#include "calpe/cli/option_types.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t words_begin = 2;  // calpe complete WORD...

// State of the parse before the last word.
struct ParsedWords {
  const CLI::App* verb;
  const CLI::Option* awaited = nullptr;        // option that still needs its operand
  std::vector<const CLI::Option*> given = {};  // options seen so far
  std::size_t operands = 0;                    // positional operands seen so far
  bool has_only_operands = false;              // after --
};

const CLI::App* find_verb(const CLI::App& app, std::string_view name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

void take(ParsedWords& parsed, const std::string& word) {
  if (parsed.awaited != nullptr) {
    parsed.awaited = nullptr;
  } else if (!parsed.has_only_operands && word == "--") {
    parsed.has_only_operands = true;
  } else if (!parsed.has_only_operands && word.size() > 1 && word.front() == '-') {
    const CLI::Option* const option = parsed.verb->get_option_no_throw(word);
    if (option == nullptr) return;
    parsed.given.push_back(option);
    if (!operand_of(*option).name.empty()) parsed.awaited = option;
  } else if (const CLI::App* const verb = find_verb(*parsed.verb, word); verb != nullptr) {
    parsed = {.verb = verb};
  } else {
    ++parsed.operands;
  }
}

// First line or clause of a description.
std::string summary(const std::string& description) {
  return description.substr(0, description.find_first_of("\n;"));
}

void print_answer(const std::string& answer, const std::string& meaning) {
  fmt::print("{}\t{}\n", answer, summary(meaning));
}

void print_operands(const CLI::Option& option) {
  const Operand operand = operand_of(option);
  for (const std::string& word : operand.words)
    print_answer(word, "");
  if (operand.name == "PROFILE") {
    for (const Profile& profile : list_profiles())
      print_answer(std::string(profile.name), std::string(profile.construction));
  } else if (operand.name == "BACKEND") {
    // Names only: querying drivers is too slow for a key press.
    for (const backend::Backend& known : backend::registered_backends())
      print_answer(std::string(known.name), "");
  } else if (operand.name == "DIR" || operand.name == "FOLDER") {
    fmt::print("<folders>\n");
  } else if (operand.name == "FILE" || operand.name == "SOCKET") {
    fmt::print("<files>\n");
  }
}

void print_options(const ParsedWords& parsed) {
  for (const CLI::Option* option : parsed.verb->get_options()) {
    const bool is_given =
        std::find(parsed.given.begin(), parsed.given.end(), option) != parsed.given.end();
    if (!option->nonpositional() || (is_given && !operand_of(*option).is_repeatable)) continue;
    for (const std::string& name : option->get_lnames())
      print_answer("--" + name, option->get_description());
  }
}

// The verb's positional operand at this position, or nullptr.
const CLI::Option* operand_at(const ParsedWords& parsed) {
  std::size_t before = parsed.operands;
  for (const CLI::Option* option : parsed.verb->get_options()) {
    if (!option->get_positional()) continue;
    if (before == 0 || operand_of(*option).is_repeatable) return option;
    --before;
  }
  return nullptr;
}

}  // namespace

bool is_completion_asked(std::span<const char* const> arguments) {
  return arguments.size() >= words_begin && arguments[1] == std::string_view("complete");
}

int print_completions(const CLI::App& app, std::span<const char* const> arguments) {
  const auto words = arguments.subspan(std::min(words_begin, arguments.size()));
  ParsedWords parsed{.verb = &app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    take(parsed, words[i]);
  const std::string_view last = words.empty() ? "" : words.back();
  if (parsed.awaited != nullptr) {
    print_operands(*parsed.awaited);
  } else if (last.starts_with('-') && !parsed.has_only_operands) {
    print_options(parsed);
  } else {
    const CLI::Option* const operand = operand_at(parsed);
    const auto verbs = parsed.verb->get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* verb : verbs)
      print_answer(verb->get_name(), verb->get_description());
    if (operand != nullptr) print_operands(*operand);
    if (operand == nullptr && verbs.empty()) print_options(parsed);
  }
  return 0;
}

}  // namespace calpe::tools
