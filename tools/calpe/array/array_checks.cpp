// SPDX-License-Identifier: Apache-2.0
#include "calpe/array/array_checks.hpp"

#include <algorithm>
#include <optional>

#include "array/array.hpp"
#include "array/format/superblock.hpp"
#include "array/members/disk_contents.hpp"
#include "array/members/file_members.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

using array::FileMembers;
using array::Inspection;
using array::MemberState;
using array::MemberStatus;
using Json = nlohmann::ordered_json;

// The roles come first.
Result<MemberStatus> member_of(const Inspection& found, unsigned role) {
  const unsigned roles =
      found.settings.spec.data_shards + unsigned{found.settings.spec.parity_shards};
  if (role < roles) return found.members[role];
  return invalid("member is ", role, "; expected less than ", roles);
}

Result<Json> check_fail(const Inspection& found, unsigned role) {
  CALPE_TRY(const MemberStatus member, member_of(found, role));
  if (member.state == MemberState::out && member.on_request)
    return invalid("member ", role, " is already out");
  if (member.state != MemberState::in || found.may_fail != 0) return Json{{"ok", true}};
  const auto lost =
      std::count_if(found.members.begin(), found.members.end(), [](const MemberStatus& one) {
        return one.role != array::no_role && one.state != MemberState::in;
      });
  return Json{{"error", text(lost, " members are out or rebuilding; at most ",
                             found.settings.spec.parity_shards, " may be")},
              {"code", "refused"}};
}

// Refuses a path that is not a member of the array: it is mistyped, or the operator expects it to
// be in use. The file or disk that the request brings in may be listed, too.
Status check_listed(const FileMembers& members, const Inspection& found, const std::string& added) {
  const std::optional<unsigned> added_place = added.empty() ? std::nullopt : members.slot_of(added);
  for (const MemberStatus& place : found.members) {
    if (place.state != MemberState::none || place.place == added_place) continue;
    const std::string of_file = members.why(place.place);
    return invalid(members.path(place.place),
                   " is not a member of this array: ", of_file.empty() ? place.why : of_file,
                   "; correct the path, or leave it out");
  }
  return Done{};
}

bool is_spare_of(const FileMembers& members, const Inspection& found, const std::string& path) {
  const std::optional<unsigned> known = members.slot_of(path);
  return known &&
         std::any_of(found.members.begin(), found.members.end(), [&](const MemberStatus& one) {
           return one.successor_place == *known ||
                  (one.place == *known && one.state == MemberState::spare);
         });
}

Status check_remove(const FileMembers& members, const Inspection& found, const std::string& path) {
  if (is_spare_of(members, found, path)) return Done{};
  return invalid(path, " is not a spare of this array; list its path with the members, too");
}

Status check_grow(FileMembers& members, const Inspection& found, const Json& request) {
  const auto path = request.value("path", "");
  const bool is_spare = is_spare_of(members, found, path);
  if (!is_spare && !request.value("force", false)) CALPE_CHECK(array::check_blank(path));
  CALPE_TRY(const auto added, FileMembers::open({path}, array::MemberAccess::read));
  if (const std::string why = added->why(0); !why.empty()) return make_error(ErrorCode::io, why);
  return array::check_grow_parity(members, added->bytes(0));
}

// A member of this array is left to the array, which knows how it can come back.
Status check_new(const Inspection& found, const std::string& path) {
  CALPE_TRY(const array::DiskContents contents, array::contents_of(path));
  if (!contents.member || contents.member->array != found.uuid) return array::check_blank(path);
  for (const MemberStatus& member : found.members) {
    const bool is_live = member.state == MemberState::in || member.state == MemberState::rebuilding;
    if (is_live && member.uuid == contents.member->member)
      return invalid(path, " is member ", member.role, " and in use; choose another");
  }
  return Done{};
}

}  // namespace

Result<Json> check_request(const ArrayPlace& place, const Json& request) {
  const Json fine = {{"ok", true}};
  if (!place.control.empty() || place.members.empty()) return fine;
  CALPE_TRY(const auto members, FileMembers::open(place.members, array::MemberAccess::read));
  auto inspected = array::inspect(*members);
  if (!inspected) return array::with_paths(std::move(inspected).error(), *members);
  const Inspection& found = *inspected;
  const auto what = request.value("do", "");
  const auto path = request.value("path", "");
  CALPE_CHECK(check_listed(*members, found, path));
  if (what == "grow-parity") {
    CALPE_CHECK(check_grow(*members, found, request));
    return fine;
  }
  if (what == "grow") {
    CALPE_TRY(const std::uint64_t bytes,
              array::check_grow(*members, request.value("bytes", std::uint64_t{0})));
    return Json{{"ok", true}, {"bytes_before", found.settings.bytes}, {"bytes", bytes}};
  }
  if (what == "fail") return check_fail(found, request["member"].get<unsigned>());
  if (what == "replace") {
    CALPE_TRY(const MemberStatus member, member_of(found, request["member"].get<unsigned>()));
    if (member.state == MemberState::rebuilding) {
      return invalid("member ", member.role,
                     " is being rebuilt; replace it when that is complete, or take it out first "
                     "with calpe array fail");
    }
  }
  if (what == "retry") {
    CALPE_TRY(const MemberStatus member, member_of(found, request["member"].get<unsigned>()));
    if (member.state != MemberState::out) return invalid("member ", member.role, " is not out");
    if (!member.can_return) {
      return invalid("member ", member.role, " is missing or needs a full rebuild; use calpe ",
                     "array replace");
    }
    return fine;
  }
  if (what == "remove") {
    CALPE_CHECK(check_remove(*members, found, path));
    return fine;
  }
  if (!path.empty() && !request.value("force", false)) CALPE_CHECK(check_new(found, path));
  return fine;
}

}  // namespace calpe::tools
