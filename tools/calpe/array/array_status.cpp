// SPDX-License-Identifier: Apache-2.0
// calpe array status and explain.
#include <fmt/format.h>
#include <memory>

#include "base/try.hpp"
#include "calpe/array/array_report.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/files/files_common.hpp"

namespace calpe::tools {

namespace {

using Text = std::string (*)(const nlohmann::ordered_json&);

Result<int> show(ArrayEndpoint& array, const ArrayArguments& arguments, Text text) {
  CALPE_TRY(nlohmann::ordered_json status, array.ask({{"do", "status"}}));
  const int exit_code = array_exit_code(status);
  if (arguments.json) {
    if (text == array_explanation) status["explanation"] = array_explanation(status);
    print_json(status);
  } else {
    fmt::print("{}", text(status));
  }
  return exit_code;
}

void add_shown(CLI::App& array, const std::string& name, const std::string& description,
               const std::string& examples, Text text, int& exit_code) {
  auto arguments = std::make_shared<ArrayArguments>();
  CLI::App* const verb = add_array_verb(array, *arguments, name, description, examples);
  add_place_options(*verb, *arguments);
  verb->callback([arguments, text, &exit_code] {
    exit_code = run_array_verb(*arguments, [&]() -> Result<int> {
      CALPE_TRY(const std::unique_ptr<ArrayEndpoint> looked, look_at_array(arguments->place));
      return show(*looked, *arguments, text);
    });
  });
}

}  // namespace

void add_array_status(CLI::App& array, int& exit_code) {
  add_shown(array, "status", "Show the state of an array and its members",
            "Example: calpe array status m0 m1 m2 m3 m4 m5\n"
            "Example: calpe array status --control ctl --json",
            array_table, exit_code);
  add_shown(array, "explain", "Explain why an array is degraded and what to do",
            "Example: calpe array explain --control ctl", array_explanation, exit_code);
}

}  // namespace calpe::tools
