// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/help_format.hpp"

#include <fmt/format.h>
#include <memory>
#include <set>
#include <sstream>
#include <string>
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
    if (!option->get_default_str().empty())
      notes.push_back("default: " + option->get_default_str());
    const std::string description = option->get_description();
    if (!option->get_needs().empty() && !description.starts_with("With "))
      notes.push_back("with " + names_of(option->get_needs()));
    if (!option->get_excludes().empty())
      notes.push_back("not with " + names_of(option->get_excludes()));
    const std::string noted =
        notes.empty() ? description : fmt::format("{} ({})", description, fmt::join(notes, "; "));
    return wrapped(noted, columns_max - option_column);
  }

  // The positionals' operand is in their name already: "members..." and not "members PATH".
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::stringstream out;
    const std::string opts = is_positional ? "" : make_option_opts(option);
    CLI::detail::format_help(out, make_option_name(option, is_positional) + opts,
                             make_option_desc(option), column_width_);
    return out.str();
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
    std::stringstream out;
    CLI::detail::format_help(out, verb->get_name(), wrapped(text, columns_max - verb_column),
                             verb_column);
    return out.str();
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

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string path;
  const CLI::App& verb = last_verb(*app, path);
  std::string message = error.what();
  // CLI11 reports an unknown verb as a missing one.
  const bool has_verbs = !verb.get_subcommands([](const CLI::App*) { return true; }).empty();
  if (error.get_name() == "RequiredError" && has_verbs) {
    const std::vector<std::string> words = verb.remaining();
    message =
        words.empty() ? "no command given" : fmt::format("unknown command \"{}\"", words.front());
  }
  return fmt::format("{0}: {1}\n{0}: see: {0} --help\n", path, message);
}

}  // namespace

void set_help_format(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormat>());
  app.failure_message(usage_message);
}

}  // namespace calpe::tools
