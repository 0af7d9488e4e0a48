// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/hex_digits.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/remote/remote_verbs.hpp"
#include "calpe/verbs.hpp"
#include "remote/place/open_place.hpp"

namespace calpe::tools {

CLI::App* add_remote_verb(CLI::App& remote, RemoteArguments& arguments, const std::string& name,
                          const std::string& description, const std::string& examples) {
  arguments.verb = name;
  CLI::App* const verb = remote.add_subcommand(name, description);
  verb->footer(text(exit_codes_help, "\n\n", examples, "\n\nSee calpe-remote(1)."));
  verb->group("Commands");
  verb->add_flag("--json", arguments.json, "Print the result as JSON");
  verb->add_option("--attempts", arguments.attempts, "Attempts for each request to S3")
      ->type_name("N")
      ->check(CLI::Range(1U, 20U))
      ->capture_default_str();
  verb->add_option("--timeout", arguments.timeout_s, "Seconds without progress before S3 is down")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, 3600U))
      ->capture_default_str();
  return verb;
}

void add_places(CLI::App& verb, RemoteArguments& arguments) {
  verb.add_option("PLACE", arguments.places,
                  "Directory, s3://BUCKET/PREFIX or rclone:REMOTE:PATH; all that the set uses")
      ->type_name("PLACE")
      ->required();
  verb.add_option("--uuid", arguments.uuid,
                  "UUID of the set, or its first digits, if there are several")
      ->type_name("UUID");
}

void add_prefer_option(CLI::App& verb, RemoteArguments& arguments) {
  verb.add_option("--prefer", arguments.prefer,
                  "Read from this place first; repeatable (default: the fastest)")
      ->type_name("PLACE")
      ->allow_extra_args(false);
}

void add_take_over_option(CLI::App& verb, RemoteArguments& arguments) {
  verb.add_option("--take-over", arguments.taken_over,
                  "Remove this mark of a command that was killed; repeatable")
      ->type_name("MARK")
      ->allow_extra_args(false);
}

void add_generation_option(CLI::App& verb, RemoteArguments& arguments) {
  verb.add_option("--generation", arguments.generation,
                  "Generation that calpe remote info lists (default: the newest)")
      ->type_name("N");
}

void add_read_back_flag(CLI::App& verb, bool& reads_back) {
  verb.add_flag("--verify-upload", reads_back, "Read each object after its upload and compare");
}

int run_remote_verb(const RemoteArguments& arguments, const std::function<Result<int>()>& work) {
  const Result<int> done = work();
  if (done) return *done;
  const Error& error = done.error();
  const int exit_code = exit_code_of(error.code);
  fmt::print(stderr, "calpe remote {}: {}\n", arguments.verb, printable(error.message));
  if (exit_code == exit_usage)
    fmt::print(stderr, "calpe remote {0}: see: calpe remote {0} --help\n", arguments.verb);
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", exit_code}});
  return exit_code;
}

void print_remote_note(const RemoteArguments& arguments, std::string_view note) {
  fmt::print(stderr, "calpe remote {}: note: {}\n", arguments.verb, printable(std::string(note)));
}

Result<remote::Places> reach_places(const RemoteArguments& arguments) {
  std::vector<remote::UsedPlace> used;
  std::set<std::string> seen;
  std::map<std::string, std::string> identities;
  for (const std::string& location : arguments.places) {
    if (!seen.insert(location).second)
      return invalid(printable(location), " is given twice; give each place once");
    CALPE_TRY(auto place, remote::open_place(location, {.attempts = arguments.attempts,
                                                        .timeout_s = arguments.timeout_s}));
    const auto [known, is_new] = identities.emplace(place->identity(), location);
    if (!is_new) {
      return invalid(printable(location), ": the same place as ", printable(known->second),
                     "; give each place once");
    }
    const bool is_preferred = std::find(arguments.prefer.begin(), arguments.prefer.end(),
                                        location) != arguments.prefer.end();
    used.push_back({.place = std::move(place), .is_preferred = is_preferred});
  }
  for (const std::string& location : arguments.prefer) {
    if (!seen.contains(location))
      return invalid("--prefer ", printable(location), " is not one of the given places");
  }
  remote::Places places(std::move(used));
  CALPE_CHECK(places.list_tops());
  return places;
}

namespace {

void note_down(const remote::Places& places, const RemoteArguments& arguments) {
  for (std::size_t index = 0; index < places.size(); ++index) {
    if (!places.is_up(index))
      print_remote_note(arguments, places[index].why_down + "; continuing without it");
  }
}

}  // namespace

Result<remote::RemoteSet> choose_set(remote::Places& places, const RemoteArguments& arguments) {
  note_down(places, arguments);
  std::vector<remote::RemoteSet> found;
  std::size_t begun = 0;
  for (remote::RemoteSet& set : remote::sets_on(places)) {
    if (!uuid_text(set.uuid).starts_with(arguments.uuid)) continue;
    if (set.generations.empty()) {
      ++begun;
    } else {
      found.push_back(std::move(set));
    }
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    return make_error(ErrorCode::io, "no set on these places",
                      arguments.uuid.empty() ? "" : " has this UUID",
                      begun == 0 ? "" : "; a protect was begun, run it again");
  }
  std::string uuids;
  for (const remote::RemoteSet& set : found)
    uuids += (uuids.empty() ? "" : ", ") + uuid_text(set.uuid).substr(0, 8);
  return invalid("there are ", found.size(), " sets: ", uuids,
                 "; choose one with --uuid; calpe remote info lists them");
}

Result<remote::Generation> choose_generation(remote::Places& places, const remote::RemoteSet& set,
                                             const RemoteArguments& arguments) {
  if (arguments.generation == 0) return load_generation(places, set, set.generations.back());
  const remote::GenerationCopies* const copies = set.find(arguments.generation);
  if (copies != nullptr) return load_generation(places, set, *copies);
  return invalid("there is no generation ", arguments.generation, "; calpe remote info lists them");
}

Result<remote::ChangeOptions> change_options(const RemoteArguments& arguments) {
  remote::ChangeOptions options = {.verb = arguments.verb};
  for (const std::string& digits : arguments.taken_over) {
    std::array<std::byte, 8> bytes = {};
    if (!parse_hex_digits(digits, bytes)) {
      return invalid("--take-over is \"", printable(digits),
                     "\"; expected the 16 digits that the refused command printed");
    }
    std::uint64_t mark = 0;
    for (const std::byte byte : bytes)
      mark = mark << 8U | std::to_integer<std::uint64_t>(byte);
    options.taken_over.push_back(mark);
  }
  return options;
}

std::string losses_text(std::size_t may_fail, std::size_t places) {
  if (may_fail == 0) return "Losing one place may lose data.";
  return fmt::format("Any {} of the {} may be lost.", may_fail, count_text(places, "place"));
}

std::string losses_text(const remote::PlaceLosses& losses) {
  if (!losses.may_fail) return {};
  std::string words = losses_text(*losses.may_fail, losses.places);
  if (losses.is_weaker()) words += fmt::format(" The set is made to lose any {}.", losses.promised);
  if (losses.possible > *losses.may_fail) {
    words +=
        fmt::format(" With calpe remote repair, these places could lose any {}.", losses.possible);
  } else if (losses.is_weaker()) {
    words += " Give calpe remote repair a new place.";
  }
  return words;
}

void add_losses(nlohmann::ordered_json& json, const remote::PlaceLosses& losses) {
  json["place_count"] = losses.places;
  json["places_may_fail"] = nullptr;
  if (losses.may_fail) json["places_may_fail"] = *losses.may_fail;
  json["places_may_fail_promised"] = losses.promised;
}

std::string remote_title(const remote::Generation& generation) {
  return set_title(generation.header);
}

void add_remote_command(CLI::App& app, int& exit_code) {
  CLI::App* const remote =
      app.add_subcommand("remote",
                         "Protect files on several clouds, servers or directories\n\n"
                         "Any m of the k+m shards may be lost, and so may as many places. A place "
                         "is a directory, s3://BUCKET/PREFIX or rclone:REMOTE:PATH. Calpe does not "
                         "encrypt: use rclone crypt.");
  remote->group(files_group);
  remote->require_subcommand(1);
  remote->footer(std::string(exit_codes_help) +
                 "\n\nExample: calpe remote protect photos --data 2 --parity 1 -o s3://one/p "
                 "-o rclone:two:p -o /mnt/three\n\nSee calpe-remote(1).");
  add_remote_protect(*remote, exit_code);
  add_remote_update(*remote, exit_code);
  add_remote_restore(*remote, exit_code);
  add_remote_info(*remote, exit_code);
  add_remote_verify(*remote, exit_code);
  add_remote_repair(*remote, exit_code);
  add_remote_forget(*remote, exit_code);
}

}  // namespace calpe::tools
