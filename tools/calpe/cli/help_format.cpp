// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/help_format.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calpe/cli/option_types.hpp"

namespace calpe::tools {

namespace {

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options)
    names.push_back(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr std::size_t columns_max = 80;
constexpr std::size_t option_column = 26;
constexpr std::size_t verb_column = 15;

// Wraps at spaces to at most `width` columns; newlines in the text count as spaces.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = used + 1 + word.size() <= width;
    if (!out.empty()) out += fits ? ' ' : '\n';
    used = out.empty() || !fits ? word.size() : used + 1 + word.size();
    out += word;
  }
  return out;
}

// Wraps line by line. Examples are not wrapped, so that they can be copied.
std::string wrapped_lines(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_example = line.starts_with("Example") || line.starts_with(' ');
    out += (is_example ? line : wrapped(line, columns_max)) + '\n';
  }
  return out;
}

// A name and its text in two columns. The text begins below a name that is too long.
std::string two_columns(const std::string& name, const std::string& text, std::size_t column) {
  const std::string indent(column, ' ');
  std::string out = fmt::format("{:<{}}", "  " + name, column);
  if (!text.empty() && name.size() + 2 >= column) out += '\n' + indent;
  for (const char letter : text) {
    out += letter;
    if (letter == '\n') out += indent;
  }
  return out + '\n';
}

// One pair of brackets: "Threads (default: 4)" and "1 to 256" become "Threads (default: 4; 1 to
// 256)".
std::string with_notes(std::string description, const std::vector<std::string>& notes) {
  if (notes.empty()) return description;
  const bool is_open = description.ends_with(')');
  if (is_open) description.pop_back();
  return fmt::format("{}{}{})", description, is_open ? "; " : " (", fmt::join(notes, "; "));
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(option_column); }

  std::string make_description(const CLI::App* app) const override {
    return wrapped_lines(app->get_description());
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped_lines(app->get_footer());
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const Operand operand = operand_of(*option);
    return operand.name.empty() ? "" : " " + operand.name;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const Operand operand = operand_of(*option);
    std::vector<std::string> notes;
    if (option->get_required()) notes.emplace_back("required");
    if (!operand.range.empty()) notes.push_back(operand.range);
    // The profile "default" is one of two codes.
    const std::string usual = option->get_default_str();
    if (!usual.empty())
      notes.push_back("default: " + (usual == "default" ? "hybrid or lch" : usual));
    const std::string description = option->get_description();
    if (!option->get_needs().empty() && !description.starts_with("With "))
      notes.push_back("with " + names_of(option->get_needs()));
    if (!option->get_excludes().empty())
      notes.push_back("not with " + names_of(option->get_excludes()));
    return wrapped(with_notes(description, notes), columns_max - option_column);
  }

  // The positionals' operand is in their name already: "members..." and not "members PATH".
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string opts = is_positional ? "" : make_option_opts(option);
    return two_columns(make_option_name(option, is_positional) + opts, make_option_desc(option),
                       column_width_);
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name));
  }

  // The first sentence of the verb's own help.
  std::string make_subcommand(const CLI::App* verb) const override {
    std::string text = verb->get_description();
    for (const char* end : {"\n\n", ". ", ".\n", ": ", "; "})
      text = text.substr(0, text.find(end));
    if (!text.empty() && text.back() == '.') text.pop_back();
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
    return two_columns(verb->get_name(), wrapped(text, columns_max - verb_column), verb_column);
  }
};

// The last verb given; sets `path` to all of them, such as "calpe codes check".
const CLI::App& last_verb(const CLI::App& app, std::string& path) {
  const CLI::App* verb = &app;
  path = app.get_name();
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    path += " " + verb->get_name();
  }
  return *verb;
}

// Insertions, deletions and replacements of one character that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// "; did you mean NAME?" with the nearest name, or "" if none is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::size_t edits_below = std::clamp<std::size_t>(word.size() / 3, 1, 2) + 1;
  std::string text;
  for (const std::string& name : names) {
    const std::size_t edits = edit_distance(word, name);
    if (edits >= edits_below) continue;
    edits_below = edits;
    text = fmt::format("; did you mean {}?", name);
  }
  return text;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && word != "--";
}

// `words` are those that the verb does not take; at least one.
std::string unknown_message(const CLI::App& verb, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* below : verb.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(below->get_name());
  if (!names.empty() && !is_option(words.front()))
    return fmt::format("unknown command \"{}\"{}", words.front(), suggestion(words.front(), names));
  const auto option = std::ranges::find_if(words, is_option);
  if (option == words.end()) return fmt::format("unexpected argument \"{}\"", words.front());
  names.clear();
  for (const CLI::Option* known : verb.get_options()) {
    for (const std::string& name : known->get_lnames())
      names.push_back("--" + name);
  }
  const std::string name = option->substr(0, option->find('='));
  return fmt::format("unknown option {}{}", name, suggestion(name, names));
}

// The values that an option takes, or "" if its type does not tell.
std::string expected_values(const Operand& operand) {
  if (!operand.range.empty()) return operand.range;
  if (!operand.words.empty()) return fmt::format("one of {}", fmt::join(operand.words, ", "));
  return operand.name == "N" || operand.name == "NUMBER" ? "a number" : "";
}

// CLI11's message about an option's value, in the words of --help.
std::string value_message(const CLI::App& verb, const std::string& message) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const bool is_unreadable = message.starts_with("Could not convert: " + name + " = ");
    if (!is_unreadable && !message.starts_with(name + ": ")) continue;
    const auto says = [&](const char* text) { return message.find(text) != std::string::npos; };
    if (says(": 1 required ") && message.ends_with(" missing")) return name + " needs a value";
    if (says(": At Most 1 required")) return name + " is given more than once";
    const std::string expected = expected_values(operand_of(*option));
    const bool is_wrong = is_unreadable || says(" not in ");
    if (!is_wrong || expected.empty() || option->results().size() != 1) return message;
    return fmt::format("{} is \"{}\"; expected {}", name, option->results().front(), expected);
  }
  return message;
}

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string path;
  const CLI::App& verb = last_verb(*app, path);
  std::vector<std::string> words = verb.remaining();
  if (words.empty()) words = app->remaining();
  std::string message = value_message(verb, error.what());
  const auto has_code = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  // CLI11 reports an unknown verb as a missing one, and a misspelt option as a missing one.
  const bool is_missing = has_code(CLI::ExitCodes::RequiredError);
  if (!words.empty() && (is_missing || has_code(CLI::ExitCodes::ExtrasError))) {
    message = unknown_message(verb, words);
  } else if (is_missing && !verb.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    message = "no command given";
  }
  return fmt::format("{0}: {1}\n{0}: see: {0} --help\n", path, message);
}

}  // namespace

void set_help_format(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormat>());
  app.failure_message(usage_message);
}

}  // namespace calpe::tools
