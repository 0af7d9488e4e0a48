// SPDX-License-Identifier: Apache-2.0
#include "array/state/member_probe.hpp"

#include <algorithm>

#include "array/format/layout.hpp"
#include "array/state/buffers.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"

namespace calpe::array {

namespace {

// A renewed lease has the epoch of the superblock that it renews.
bool is_newer(const Superblock& one, const Superblock& other) noexcept {
  if (one.epoch != other.epoch) return one.epoch > other.epoch;
  return one.lease.renewals > other.lease.renewals;
}

bool is_ancestor(const Superblock& old, const Superblock& newest, unsigned role) noexcept {
  if (old.session != 0 && old.session == newest.session) return old.epoch <= newest.epoch;
  if (newest.session != 0) {
    for (const PastSession& past : newest.past) {
      if (past.session == old.session) return old.epoch <= past.last_epoch;
    }
    if (newest.past.size() < past_sessions_max) return false;
  }
  // Sessions that are not recorded, from an older version or long ago: use epochs. A member that
  // failed may have up to two superblocks more than it certainly had; one that was opened without
  // the others has at least three more.
  const RoleRecord& record = newest.roles[role];
  const std::uint64_t known = record.state == MemberState::out ? record.out_epoch : newest.previous;
  return old.epoch <= known + 2;
}

}  // namespace

FoundPlace look_at(Members& members, unsigned place) {
  FoundPlace found;
  found.place = place;
  found.name = members.name(place);
  if (members.bytes(place) < log_at) {
    found.why =
        members.bytes(place) == 0 ? "it is missing or empty" : "it is too small for a member";
    return found;
  }
  const AlignedBytes bytes(log_at);
  std::uint64_t newer_epoch = 0;
  std::string newer;
  for (unsigned copy = 0; copy < 2; ++copy) {
    MemberRequest request;
    request.member = place;
    request.offset = copy * block_bytes;
    request.bytes = bytes.span().subspan(copy * block_bytes, block_bytes);
    request.is_past_cache = true;  // another host may have written it
    members.run(std::span(&request, 1));
    if (request.error) {
      found.why = request.error->message;
      continue;
    }
    Result<Superblock> parsed = parse_superblock(request.bytes);
    if (!parsed) {
      found.why = parsed.error().message;
      if (const auto epoch = epoch_for_newer_version(request.bytes)) {
        newer_epoch = *epoch;
        newer = found.why;
      }
    } else if (!found.superblock || is_newer(*parsed, *found.superblock)) {
      found.superblock = *std::move(parsed);
      found.copy = copy;
    }
  }
  // The copy that this version can read is an old one.
  if (found.superblock && found.superblock->epoch < newer_epoch) {
    found.superblock.reset();
    found.why = newer;
  }
  if (found.superblock) found.why.clear();
  return found;
}

bool is_stale(const Superblock& superblock, const Superblock& newest) noexcept {
  return superblock.epoch < newest.previous;
}

bool has_diverged(const Superblock& old, const Superblock& newest, unsigned role) noexcept {
  if (is_ancestor(old, newest, role)) return false;
  bool is_without_another = false;
  for (std::size_t other = 0; other < std::min(old.roles.size(), newest.roles.size()); ++other) {
    const RoleRecord& before = old.roles[other];
    const RoleRecord& now = newest.roles[other];
    // An opening acknowledges no write before all its members know of it. This member does not
    // know, so a power cut ended that opening early.
    if (other != role && before.state == MemberState::in && now.state == MemberState::in &&
        before.uuid == now.uuid) {
      return false;
    }
    is_without_another |= before.state == MemberState::out && now.state != MemberState::out;
  }
  return is_without_another;
}

Result<Survey> survey(Members& members) {
  Survey all;
  for (unsigned place = 0; place < std::min(members.count(), 2 * members_most); ++place) {
    all.places.push_back(look_at(members, place));
  }
  const FoundPlace* newest = nullptr;
  const FoundPlace* first = nullptr;
  std::string reasons;
  for (const FoundPlace& found : all.places) {
    if (!found.superblock) {
      reasons += text(reasons.empty() ? "" : "; ", found.name, ": ", found.why);
      continue;
    }
    if (first == nullptr) first = &found;
    if (found.superblock->array != first->superblock->array) {
      return make_error(ErrorCode::invalid_argument, first->name, " belongs to array ",
                        uuid_text(first->superblock->array), " and ", found.name, " to array ",
                        uuid_text(found.superblock->array), "; give the members of one array");
    }
    for (const FoundPlace& other : all.places) {
      if (&other == &found) break;
      if (other.superblock && other.superblock->member == found.superblock->member) {
        return make_error(ErrorCode::invalid_argument, other.name, " and ", found.name,
                          " are copies of one member; give only one of them");
      }
    }
    if (newest == nullptr || is_newer(*found.superblock, *newest->superblock)) newest = &found;
  }
  if (newest == nullptr) {
    return make_error(ErrorCode::corrupt,
                      "no array found: ", reasons.empty() ? "no member was given" : reasons);
  }
  all.newest = *newest->superblock;
  all.by_role.resize(all.newest.roles.size());
  const std::uint64_t member_bytes = layout_of(all.newest.settings, all.newest.shape).member_bytes;
  for (FoundPlace& found : all.places) {
    bool is_role = false;
    if (found.superblock && members.bytes(found.place) < member_bytes) {
      found.why =
          text("it has ", members.bytes(found.place), " bytes; expected at least ", member_bytes);
      found.is_short = true;
      for (std::size_t role = 0; role < all.by_role.size(); ++role) {
        const bool is_its_own = found.superblock->member == all.newest.roles[role].uuid;
        if (is_its_own) all.cut |= std::uint64_t{1} << role;
      }
      found.superblock.reset();
    }
    for (std::size_t role = 0; found.superblock && role < all.by_role.size(); ++role) {
      if (found.superblock->member != all.newest.roles[role].uuid) continue;
      all.by_role[role] = &found;
      if (has_diverged(*found.superblock, all.newest, static_cast<unsigned>(role))) {
        all.diverged |= std::uint64_t{1} << role;
      }
      is_role = true;
    }
    if (is_role) continue;
    const bool is_spare = found.superblock && found.superblock->role == no_role;
    (is_spare ? all.spares : all.others).push_back(&found);
  }
  return all;
}

}  // namespace calpe::array
