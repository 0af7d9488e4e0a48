// SPDX-License-Identifier: Apache-2.0
#include "calpe/cmd_devices.hpp"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <calpe/codec.hpp>

namespace calpe::tools {

namespace {

void print_devices(bool as_json) {
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const BackendInfo& backend : list_backends()) {
      list.push_back({{"name", backend.name},
                      {"description", backend.description},
                      {"available", backend.available},
                      {"reason", backend.reason}});
    }
    fmt::print("{}\n", list.dump(2));
    return;
  }
  fmt::print("{:<18} {:<10} {}\n", "NAME", "AVAILABLE", "DESCRIPTION");
  for (const BackendInfo& backend : list_backends()) {
    fmt::print("{:<18} {:<10} {}\n", backend.name, backend.available ? "yes" : "no",
               backend.available ? backend.description : backend.reason);
  }
}

}  // namespace

void add_devices_command(CLI::App& app, int& /*exit_code*/) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* devices = app.add_subcommand(
      "devices",
      "List every backend of this build, usable here or not, and why not.\n\n"
      "Example: calpe devices\n"
      "The environment variable CALPE_CPU forces a CPU path: CALPE_CPU=avx2 calpe devices");
  devices->add_flag("--json", *as_json, "Print JSON");
  devices->callback([as_json] { print_devices(*as_json); });
}

}  // namespace calpe::tools
