// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <calpe/code_spec.hpp>
#include <calpe/codec.hpp>

#include "calpe/cli/exit_codes.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::string profile = "default";
  unsigned data = 0;
  unsigned parity = 0;
  unsigned groups = 0;
  unsigned word_bits = 0;
  std::string layout;
  bool patterns = false;
};

std::string layouts_of(const Profile& profile) {
  if (profile.bytes_layout && profile.packets_layout) return "bytes, packets";
  return profile.bytes_layout ? "bytes" : "packets";
}

void list_codes(bool as_json) {
  if (as_json) {
    Json list = Json::array();
    for (const Profile& profile : list_profiles()) {
      list.push_back({{"name", profile.name},
                      {"family", static_cast<unsigned>(profile.family)},
                      {"bytes", profile.bytes_layout},
                      {"packets", profile.packets_layout},
                      {"construction", profile.construction},
                      {"compatible", profile.compatible}});
    }
    fmt::print("{}\n", list.dump(2));
    return;
  }
  fmt::print("{:<21} {:<15} {}\n", "PROFILE", "LAYOUTS", "CONSTRUCTION");
  for (const Profile& profile : list_profiles()) {
    fmt::print("{:<21} {:<15} {}\n", profile.name, layouts_of(profile), profile.construction);
    if (profile.compatible != "none") {
      fmt::print("{:<37} compatible with {}\n", "", profile.compatible);
    }
  }
  fmt::print("\nTo prove a code: calpe codes check --data 10 --parity 4\n");
}

Result<CodeSpec> to_spec(const CheckArguments& arguments) {
  auto spec = find_profile(arguments.profile);
  if (!spec) return spec;
  spec->data_shards = arguments.data;
  spec->parity_shards = arguments.parity;
  spec->local_groups = arguments.groups;
  if (arguments.layout == "bytes") spec->layout = Layout::bytes;
  if (arguments.layout == "packets") spec->layout = Layout::packets;
  if (arguments.word_bits != 0) spec->word_bits = static_cast<std::uint8_t>(arguments.word_bits);
  return spec;
}

void print_patterns(const std::vector<PatternCount>& counts) {
  fmt::print("{:>7} {:>12} {:>12}\n", "LOST", "PATTERNS", "RECOVERABLE");
  for (const PatternCount& count : counts) {
    fmt::print("{:>7} {:>12} {:>12}\n", count.losses, count.patterns, count.recoverable);
  }
}

int report_usage(const Error& error) {
  fmt::print(stderr, "calpe codes check: {}\n", error.message);
  return exit_code_of(error.code);
}

// Resolves `default` to the profile used for these shard counts; other names are returned as is.
Result<std::string> resolved_name(const CodeSpec& spec, const std::string& asked) {
  if (spec.family != CodeFamily::default_code) return asked;
  const auto codec = Codec::create(spec);
  if (!codec) return codec.error();
  for (const Profile& profile : list_profiles()) {
    if (profile.family == codec->spec().family) return std::string(profile.name);
  }
  return asked;
}

int check_code(const CheckArguments& arguments, bool as_json) {
  const auto spec = to_spec(arguments);
  if (!spec) return report_usage(spec.error());
  const auto proof = prove(*spec);
  if (!proof) return report_usage(proof.error());
  const auto name = resolved_name(*spec, arguments.profile);
  if (!name) return report_usage(name.error());

  // A code that is not MDS promises less than m losses: show exactly which patterns survive.
  std::vector<PatternCount> counts;
  if (arguments.patterns || proof->kind == CodeProof::Kind::pyramid) {
    if (auto counted = count_recoverable(*spec)) {
      counts = *std::move(counted);
    } else if (arguments.patterns) {
      return report_usage(counted.error());
    }
  }
  if (as_json) {
    Json json = {{"profile", arguments.profile},
                 {"resolved", *name},
                 {"data_shards", arguments.data},
                 {"parity_shards", arguments.parity},
                 {"proven", proof->proven()},
                 {"proof", proof_kind_name(proof->kind)},
                 {"losses", proof->losses},
                 {"minors", proof->minors},
                 {"dead_pattern", proof->dead_pattern},
                 {"text", proof->text}};
    for (const PatternCount& count : counts) {
      json["patterns"].push_back({{"losses", count.losses},
                                  {"patterns", count.patterns},
                                  {"recoverable", count.recoverable}});
    }
    fmt::print("{}\n", json.dump(2));
  } else {
    const std::string stands_for = *name == arguments.profile ? "" : " (" + *name + ")";
    fmt::print("{} {}+{}{}: {}\n", arguments.profile, arguments.data, arguments.parity, stands_for,
               proof->text);
    if (!counts.empty()) print_patterns(counts);
    if (!proof->proven()) {
      fmt::print("Calpe refuses codecs with this code. Try --profile default.\n");
    }
  }
  return proof->proven() ? exit_ok : exit_not_ok;
}

}  // namespace

void add_codes_command(CLI::App& app, int& exit_code) {
  CLI::App* codes = app.add_subcommand("codes", "List the code profiles, or prove one");
  codes->footer(
      "Exit codes: 0 listed or proven, 1 not proven, 3 wrong usage.\n"
      "Example: calpe codes --json\n"
      "Example: calpe codes check --data 10 --parity 4");
  auto as_json = std::make_shared<bool>(false);
  codes->add_flag("--json", *as_json, "Print JSON");
  codes->require_subcommand(0, 1);

  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check =
      codes->add_subcommand("check", "Prove that a code recovers every loss of m shards");
  check->footer(
      "Exit codes: 0 proven, 1 not proven (a loss that cannot be rebuilt is named), "
      "3 wrong usage.\n"
      "Example: calpe codes check --profile vandermonde-isal --data 10 --parity 5");
  check->group("Commands");
  check->add_option("--profile", arguments->profile, "Profile name; see calpe codes")
      ->type_name("PROFILE")
      ->capture_default_str();
  check->add_option("--data", arguments->data, "Data shards, k")
      ->required()
      ->check(CLI::Range(1, 255));
  check->add_option("--parity", arguments->parity, "Parity shards, m (lrc: local plus global)")
      ->required()
      ->check(CLI::Range(1, 255));
  check->add_option("--groups", arguments->groups, "Local groups (lrc only)")
      ->check(CLI::Range(0, 255));
  check->add_option("--word-bits", arguments->word_bits, "Bits per symbol, w (packets only)")
      ->check(CLI::Range(2, 8));
  check->add_option("--layout", arguments->layout, "Shard layout")
      ->check(CLI::IsMember({"bytes", "packets"}));
  check->add_flag("--patterns", arguments->patterns,
                  "Count recoverable loss patterns by trying each");
  check->add_flag("--json", *as_json, "Print JSON");

  check->callback(
      [arguments, as_json, &exit_code] { exit_code = check_code(*arguments, *as_json); });
  codes->callback([codes, as_json] {
    if (codes->get_subcommands().empty()) list_codes(*as_json);
  });
}

}  // namespace calpe::tools
