// SPDX-License-Identifier: Apache-2.0
// calpe array grow.
#include <fmt/format.h>
#include <memory>

#include "base/try.hpp"
#include "calpe/array/array_checks.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

struct GrowArguments {
  ArrayArguments array;
  std::uint64_t bytes = 0;
  bool is_dry_run = false;
};

int show(const GrowArguments& arguments, const Json& answer) {
  const auto before = answer["bytes_before"].get<std::uint64_t>();
  const auto now = answer["bytes"].get<std::uint64_t>();
  if (arguments.array.json) {
    print_json({{"bytes_before", before}, {"bytes", now}});
  } else if (arguments.is_dry_run) {
    fmt::print("the array can grow from {} to {}\n", bytes_text(before), bytes_text(now));
  } else {
    fmt::print("the array has grown from {} to {}\n", bytes_text(before), bytes_text(now));
    if (!arguments.array.place.control.empty())
      fmt::print("clients see the new size when they connect again\n");
  }
  return exit_ok;
}

Result<int> ask(ArrayEndpoint& array, const GrowArguments& arguments, const Json& request) {
  CALPE_TRY(const Json answer, array.ask(request));
  if (answer.contains("error")) return show_refusal(arguments.array, answer);
  return show(arguments, answer);
}

int run(const GrowArguments& arguments) {
  const Json request = {
      {"do", "grow"}, {"bytes", arguments.bytes}, {"dry_run", arguments.is_dry_run}};
  const bool is_served = !arguments.array.place.control.empty();
  if (!is_served && arguments.is_dry_run && !arguments.array.place.members.empty()) {
    return run_array_verb(arguments.array, [&]() -> Result<int> {
      CALPE_TRY(const Json checked, check_request(arguments.array.place, request));
      return show(arguments, checked);
    });
  }
  return run_with_array(arguments.array, request,
                        [&](ArrayEndpoint& reached) { return ask(reached, arguments, request); });
}

}  // namespace

void add_array_grow(CLI::App& array, int& exit_code) {
  auto arguments = std::make_shared<GrowArguments>();
  arguments->array.place.is_paused = true;
  CLI::App* const verb =
      add_array_verb(array, arguments->array, "grow",
                     "Use the space of larger members for more capacity\n\n"
                     "Replace members by larger ones first, or make their files or volumes larger. "
                     "Clients see the new size when they connect again.",
                     "Example: calpe array grow --control ctl\n"
                     "Example: calpe array grow --dry-run m0 m1 m2 m3 m4 m5");
  verb->add_option("--size", arguments->bytes, "New capacity (default: as much as fits)")
      ->transform(CLI::AsSizeValue(false));
  verb->add_flag("--dry-run", arguments->is_dry_run, "Show the new capacity, and change nothing");
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
