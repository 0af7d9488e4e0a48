// SPDX-License-Identifier: Apache-2.0
// calpe array scan: finds arrays by the superblocks of their members.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/members/member_scan.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

using array::ScannedMember;
using Json = nlohmann::ordered_json;

struct ScanArguments {
  ArrayArguments array;
  std::vector<std::string> places;
  std::string uuid;
  bool is_command = false;
};

// Names of disks that stay the same come first; /dev has the disks without one.
const std::vector<std::string> default_places = {"/dev/disk/by-id", "/dev", "/dev/mapper"};

struct FoundArray {
  std::vector<ScannedMember> members;
  array::Superblock newest;
};

std::map<std::string, FoundArray> arrays_of(std::vector<ScannedMember> members) {
  std::map<std::string, FoundArray> arrays;
  for (ScannedMember& one : members) {
    FoundArray& to = arrays[uuid_text(one.superblock.array)];
    if (to.members.empty() || one.superblock.epoch > to.newest.epoch) to.newest = one.superblock;
    to.members.push_back(std::move(one));
  }
  return arrays;
}

// The number of the member, -1 for a spare, -2 for a former member.
int number_of(const FoundArray& one, const ScannedMember& member) {
  for (std::size_t role = 0; role < one.newest.roles.size(); ++role) {
    if (one.newest.roles[role].uuid == member.superblock.member) return static_cast<int>(role);
  }
  return member.superblock.role == array::no_role ? -1 : -2;
}

Json array_json(const std::string& uuid, const FoundArray& one) {
  Json members = Json::array();
  Json spares = Json::array();
  Json former = Json::array();
  std::vector<bool> is_found(one.newest.roles.size());
  for (std::size_t role = 0; role < is_found.size(); ++role) {
    for (const ScannedMember& member : one.members) {
      if (number_of(one, member) != static_cast<int>(role)) continue;
      is_found[role] = true;
      members.push_back({{"member", role}, {"path", member.path}});
    }
  }
  for (const ScannedMember& member : one.members) {
    if (number_of(one, member) == -1) spares.push_back(member.path);
    if (number_of(one, member) == -2) former.push_back(member.path);
  }
  Json missing = Json::array();
  for (std::size_t role = 0; role < is_found.size(); ++role) {
    if (!is_found[role]) missing.push_back(role);
  }
  const array::Settings& settings = one.newest.settings;
  return {{"uuid", uuid},
          {"data", settings.spec.data_shards},
          {"parity", settings.spec.parity_shards},
          {"bytes", settings.bytes},
          {"members", members},
          {"missing", missing},
          {"spares", spares},
          {"former", former}};
}

std::string table(const Json& one) {
  std::string out =
      fmt::format("array {}\n{}+{}, {} for data: {} of {} members found\n",
                  one["uuid"].get<std::string>(), one["data"].get<unsigned>(),
                  one["parity"].get<unsigned>(), bytes_text(one["bytes"].get<std::uint64_t>()),
                  one["members"].size(), one["members"].size() + one["missing"].size());
  const auto line = [&](const std::string& member, const std::string& path) {
    out += fmt::format("{:>6}  {}\n", member, path);
  };
  line("member", "path");
  for (const Json& member : one["members"])
    line(std::to_string(member["member"].get<unsigned>()),
         printable(member["path"].get<std::string>()));
  for (const Json& role : one["missing"])
    line(std::to_string(role.get<unsigned>()), "missing");
  for (const Json& path : one["spares"])
    line("spare", printable(path.get<std::string>()));
  for (const Json& path : one["former"])
    line("former", printable(path.get<std::string>()));
  return out;
}

Result<int> run_scan(const ScanArguments& arguments) {
  const auto& places = arguments.places.empty() ? default_places : arguments.places;
  Json all = Json::array();
  for (const auto& [uuid, one] : arrays_of(array::scan_places(places))) {
    if (arguments.uuid.empty() || arguments.uuid == uuid) all.push_back(array_json(uuid, one));
  }
  if (arguments.is_command) {
    if (all.size() != 1) {
      return invalid(all.size(), " arrays found; expected one", all.empty() ? "" : ": use --uuid");
    }
    for (const Json& member : all[0]["members"])
      fmt::print("{}\n", member["path"].get<std::string>());
    for (const Json& path : all[0]["spares"])
      fmt::print("{}\n", path.get<std::string>());
    return all[0]["missing"].empty() ? exit_ok : exit_not_ok;
  }
  bool is_complete = !all.empty();
  for (const Json& one : all)
    is_complete = is_complete && one["missing"].empty();
  if (arguments.array.json) {
    print_json({{"arrays", all}});
  } else if (all.empty()) {
    fmt::print("no array found\n");
  }
  for (std::size_t i = 0; !arguments.array.json && i < all.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n", table(all[i]));
  return is_complete ? exit_ok : exit_not_ok;
}

}  // namespace

void add_array_scan(CLI::App& array, int& exit_code) {
  auto arguments = std::make_shared<ScanArguments>();
  CLI::App* const verb = add_array_verb(
      array, arguments->array, "scan",
      "Find arrays by the superblocks of their members\n\n"
      "Searches disks, or the given files and directories. Only reads. Exits with 1 if no array or "
      "not every member is found.",
      "Example: calpe array scan\n"
      "Example: calpe array scan /srv/members --json\n"
      "Example: nbdkit calpe $(calpe array scan --paths --uuid UUID) control=ctl");
  verb->add_option("places", arguments->places,
                   "Files and directories (default: /dev/disk/by-id, /dev and /dev/mapper)")
      ->type_name("PATH");
  verb->add_option("--uuid", arguments->uuid, "Only this array")->type_name("UUID");
  verb->add_flag("--paths", arguments->is_command,
                 "Print only the paths of one array, one per line, for nbdkit");
  verb->add_flag("--json", arguments->array.json, "Print JSON");
  verb->callback([arguments, &exit_code] {
    exit_code = run_array_verb(arguments->array, [&] { return run_scan(*arguments); });
  });
}

}  // namespace calpe::tools
