// SPDX-License-Identifier: Apache-2.0
#include "array/service/status_json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::array {

namespace {

using Json = nlohmann::ordered_json;
using array::ArrayStatus;
using array::FileMembers;
using array::Inspection;
using array::MemberState;
using array::MemberStatus;

const char* state_name(MemberState state) {
  switch (state) {
    case MemberState::in:
      return "live";
    case MemberState::out:
      return "out";
    case MemberState::rebuilding:
      return "rebuilding";
    case MemberState::spare:
      return "spare";
    case MemberState::none:
      break;
  }
  return "unused";
}

std::string why_of(const FileMembers& files, const MemberStatus& member) {
  if (member.state != MemberState::none && !member.why.empty()) return member.why;
  const std::string of_file = member.place < files.count() ? files.why(member.place) : "";
  return of_file.empty() ? member.why : of_file;
}

Json member_json(const FileMembers& files, const MemberStatus& member) {
  return {{"member", member.role},
          {"path", files.path(member.place)},
          {"state", state_name(member.state)},
          {"why", why_of(files, member)},
          {"can_return", member.can_return},
          {"on_request", member.state == MemberState::out && member.on_request},
          {"replaced_by",
           member.successor_place ? Json(files.path(*member.successor_place)) : Json(nullptr)},
          {"corrupt_blocks", member.blocks_wrong},
          {"repaired_blocks", member.blocks_repaired},
          {"read_errors", member.read_errors},
          {"write_errors", member.write_errors}};
}

// Overall state. `failed` is why the array cannot be used, empty if it can.
std::string overall(const Inspection& now, const std::string& failed) {
  if (!failed.empty()) return "failed";
  bool is_rebuilding = false;
  for (const MemberStatus& member : now.members) {
    if (member.state == MemberState::out) return "degraded";
    is_rebuilding = is_rebuilding || member.state == MemberState::rebuilding;
  }
  return is_rebuilding ? "rebuilding" : "healthy";
}

std::uint64_t stripes_of(const array::Settings& settings) {
  const std::uint64_t stripe = std::uint64_t{settings.chunk_bytes} * settings.spec.data_shards;
  return (settings.bytes + stripe - 1) / stripe;
}

// Members that are rebuilt come first, before one that is copied to its successor.
Json rebuild_json(const Inspection& now, std::uint64_t rate) {
  const auto work = [&](const MemberStatus& member, std::uint64_t stripes, bool is_copy) {
    const std::uint64_t chunk = now.settings.chunk_bytes;
    return Json{{"member", member.role},
                {"done", stripes * chunk},
                {"all", stripes_of(now.settings) * chunk},
                {"rate", rate},
                {"is_copy", is_copy}};
  };
  for (const MemberStatus& member : now.members) {
    if (member.state == MemberState::rebuilding) return work(member, member.stripes_done, false);
  }
  for (const MemberStatus& member : now.members) {
    if (member.successor_place) return work(member, member.stripes_copied, true);
  }
  return nullptr;
}

// On the members.
Json history_json(const ScrubHistory& history) {
  return {{"begun", history.begun},
          {"ended", history.complete},
          {"last_begun", history.last_begun},
          {"last_end", history.last_end},
          {"last_found", history.last_found.wrong},
          {"last_repaired", history.last_found.repaired},
          {"last_lost", history.last_found.lost}};
}

Json scrub_json(const ScrubState& scrub, std::uint32_t every) {
  return {{"running", scrub.is_running},
          {"done", scrub.done},
          {"all", scrub.all},
          {"found", scrub.found},
          {"repaired", scrub.repaired},
          {"lost", scrub.columns_lost},
          {"ended", scrub.scrubs_ended},
          {"last_end", scrub.last_end},
          {"why", scrub.why},
          {"every", every}};
}

// Fields that an open array and a mere inspection have in common.
Json common_json(const FileMembers& files, const Inspection& now, const std::string& failed,
                 std::uint64_t rebuild_rate) {
  Json json = {{"ok", true},
               {"uuid", uuid_text(now.uuid)},
               {"state", overall(now, failed)},
               {"why", failed},
               {"may_fail", now.may_fail},
               {"data", now.settings.spec.data_shards},
               {"parity", now.settings.spec.parity_shards},
               {"chunk_bytes", now.settings.chunk_bytes},
               {"bytes", now.settings.bytes}};
  Json members = Json::array();
  Json spares = Json::array();
  Json unused = Json::array();
  for (const MemberStatus& member : now.members) {
    if (member.role != array::no_role && member.state != MemberState::spare) {
      members.push_back(member_json(files, member));
    } else {
      Json& list = member.state == MemberState::spare ? spares : unused;
      list.push_back({{"path", files.path(member.place)}, {"why", why_of(files, member)}});
    }
  }
  json["members"] = std::move(members);
  json["spares"] = std::move(spares);
  json["unused"] = std::move(unused);
  json["rebuild"] = rebuild_json(now, rebuild_rate);
  return json;
}

// The reason if more members are out than may be, else empty.
std::string why_failed(const Inspection& now) {
  unsigned lost = 0;
  for (const MemberStatus& member : now.members) {
    const bool is_role = member.role != array::no_role;
    lost += is_role && member.state != MemberState::in ? 1 : 0;
  }
  const unsigned most = now.settings.spec.parity_shards;
  if (lost <= most) return {};
  return text(lost, " members are out or rebuilding; at most ", most, " may be");
}

}  // namespace

Json status_json(Service& service) {
  const ArrayStatus status = service.status();
  Json json =
      common_json(service.members(), status.now, status.failed, service.rebuilt_in_second());
  for (std::size_t i = 0; i < json["members"].size(); ++i) {
    const unsigned place = status.now.members[i].place;
    json["members"][i]["hung"] =
        place < array::members_most && (service.hung_places() >> place & 1U) != 0;
  }
  for (const UnusedPath& one : service.unused_paths(status))
    json["unused"].push_back({{"path", one.path}, {"why", one.why}});
  json["lost_blocks"] = {{"count", status.blocks_lost}, {"first", status.first_lost}};
  if (status.blocks_lost != 0 && json["state"] == "healthy") json["state"] = "damaged";
  const ServiceOptions options = service.options();
  const ScrubState scrub = service.scrub_state();
  json["scrub"] = scrub_json(scrub, options.scrub_every_seconds);
  json["scrubs"] = history_json(scrub.history);
  json["rates"] = {{"rebuild", options.rebuild_rate}, {"scrub", options.scrub_rate}};
  json["paused"] = service.is_paused();
  json["takes_spares"] = options.takes_spares;
  json["log"] = {{"used", status.log_bytes_used},
                 {"bytes", status.now.settings.log_bytes},
                 {"commits", status.commits},
                 {"checkpoints", status.checkpoints},
                 {"replayed", status.batches_replayed}};
  json["stripes"] = {{"all", status.stripes},
                     {"mapped", status.stripes_mapped},
                     {"missed", status.stripes_missed},
                     {"free_slots", status.slots_free}};
  return json;
}

Json inspection_json(const FileMembers& files, const Inspection& now) {
  Json json = common_json(files, now, why_failed(now), 0);
  json["clean"] = now.is_clean;
  json["scrubs"] = history_json(now.scrub);
  json["log"] = {{"bytes", now.settings.log_bytes}};
  json["stripes"] = {{"all", stripes_of(now.settings)}};
  return json;
}

}  // namespace calpe::array
