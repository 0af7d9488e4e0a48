// SPDX-License-Identifier: Apache-2.0
// calpe array status, explain and metrics.
#include <fmt/format.h>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "base/try.hpp"
#include "calpe/array/array_metrics.hpp"
#include "calpe/array/array_report.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"

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

struct MetricsArguments {
  ArrayArguments array;
  std::string output;
};

// The state of the array is in the metrics, so the exit code only tells whether they were written.
Result<int> show_metrics(ArrayEndpoint& array, const MetricsArguments& arguments) {
  CALPE_TRY(const nlohmann::ordered_json status, array.ask({{"do", "status"}}));
  const std::string text = array_metrics(status);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
  } else {
    CALPE_CHECK(replace_file(arguments.output, text, Readers::as_umask_says));
  }
  return exit_ok;
}

void add_metrics(CLI::App& array, int& exit_code) {
  auto arguments = std::make_shared<MetricsArguments>();
  CLI::App* const verb =
      add_array_verb(array, arguments->array, "metrics",
                     "Print the state of an array as Prometheus metrics\n\n"
                     "With --output, the file is replaced as a whole, as node_exporter's textfile "
                     "collector expects. The exit code does not depend on the state.",
                     "Example: calpe array metrics --control ctl\n"
                     "Example: calpe array metrics --control ctl --output calpe.prom");
  add_place_options(*verb, arguments->array);
  verb->remove_option(verb->get_option("--json"));
  verb->add_option("--output", arguments->output, "Write to this file")->type_name("FILE");
  verb->callback([arguments, &exit_code] {
    exit_code = run_array_verb(arguments->array, [&]() -> Result<int> {
      CALPE_TRY(const std::unique_ptr<ArrayEndpoint> looked, look_at_array(arguments->array.place));
      return show_metrics(*looked, *arguments);
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
  add_metrics(array, exit_code);
}

}  // namespace calpe::tools
