// SPDX-License-Identifier: Apache-2.0
#include "array/core/opening.hpp"

#include <algorithm>
#include <bit>

#include "array/core/recovery.hpp"
#include "array/format/member_format.hpp"
#include "array/state/codec_cache.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::uint64_t piece_bytes = 1U << 20U;

std::string why_not(const Survey& found, unsigned role) {
  const FoundPlace* place = found.by_role[role];
  if (place == nullptr) return "it is missing";
  return text(place->name, " is stale: its superblock is older than those of the other members");
}

const char* why_gone(const RoleRecord& record) {
  return record.on_request ? taken_out_missing_text : "it left the array earlier and is missing";
}

// If both sides of a split brain are complete, the operator must choose. If only one side can be
// opened, it is used, and the members of the other stay out.
Status check_not_split(const Survey& found) {
  const unsigned needed = found.newest.settings.spec.data_shards;
  if (static_cast<unsigned>(std::popcount(found.diverged)) < needed) return Done{};
  std::string one;
  std::string other;
  for (unsigned role = 0; role < found.by_role.size(); ++role) {
    if (found.by_role[role] == nullptr) continue;
    std::string& side = (found.diverged >> role & 1U) != 0 ? other : one;
    side += text(side.empty() ? "" : ", ", found.by_role[role]->name);
  }
  return invalid("split brain: (", one, ") and (", other,
                 ") were each opened without the others, and both may hold writes that the others "
                 "lack; open only the side you want to keep, then put the others back with "
                 "calpe array replace --force, which erases them");
}

// survey() drops members that are shorter than their superblock claims, so memory is not allocated
// for a forged size.
Status check_any_there(const Survey& found) {
  std::string reasons;
  for (const FoundPlace& place : found.places) {
    if (!place.superblock) reasons += text("; ", place.name, ": ", place.why);
  }
  if (std::any_of(found.by_role.begin(), found.by_role.end(),
                  [](const FoundPlace* place) { return place != nullptr; })) {
    return Done{};
  }
  return make_error(ErrorCode::unrecoverable,
                    "none of the members that the newest superblock lists was found", reasons);
}

// Assigns places to the roles that are used. Returns the roles that should be in but are not.
Result<std::uint64_t> assign(SharedState& shared, const Survey& found, const OpenOptions& options) {
  Roster& roster = shared.roster;
  std::uint64_t gone = 0;
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    const RoleRecord& record = found.newest.roles[role];
    const FoundPlace* place = found.by_role[role];
    if (place != nullptr) {
      roster.set_place(role, place->place);
      roster.copy(role) = place->copy;
    }
    roster.set(role, record);
    roster.set_errors(role, record.errors);
    if (record.state == MemberState::out) {
      const bool has_diverged = (found.diverged >> role & 1U) != 0;
      roster.set_why(role, place == nullptr ? why_gone(record)
                           : has_diverged
                               ? "it was opened without the others (split brain) and may hold "
                                 "writes that they lack; replace --force erases it"
                           : record.on_request ? taken_out_text
                                               : "it left the array earlier and missed writes");
    } else if (place == nullptr || is_stale(*place->superblock, found.newest)) {
      gone |= std::uint64_t{1} << role;
    }
  }
  std::string names;
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    const bool is_gone = (gone >> role & 1U) != 0;
    if (roster.is_live(role) && !is_gone) continue;
    names += text(names.empty() ? "" : "; ", "member ", role, ": ",
                  is_gone ? why_not(found, role) : roster.why(role));
  }
  if (options.needs_all && gone != 0) {
    return make_error(ErrorCode::unrecoverable, "all members are needed: ", names);
  }
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    // A truncated member lacks unknown bytes, even if it has grown again.
    const bool is_cut = (found.cut >> role & 1U) != 0;
    if (is_cut) roster.set_needs_full(role);
    if ((gone >> role & 1U) == 0) continue;
    const bool needs_full = is_cut || found.by_role[role] != nullptr;
    roster.mark_out(role, why_not(found, role), needs_full ? Exit::needs_full : Exit::may_return);
    // A missing member may also lack the newest superblock.
    if (!roster.is_live(role)) roster.set_out_epoch(role, found.newest.previous);
  }
  if (roster.is_failed()) {
    for (const FoundPlace& place : found.places) {
      if (place.is_short) names += text("; ", place.name, ": ", place.why);
    }
    return make_error(ErrorCode::unrecoverable, "too few members, at most ", shared.layout.parity,
                      " may be out: ", names);
  }
  return gone;
}

// Makes the newest superblock durable on all live members before a newer one is written.
void equalise(SharedState& shared, Members& members, const Survey& found) {
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    if (!shared.roster.is_live(role)) continue;
    const FoundPlace& place = *found.by_role[role];
    if (place.superblock->epoch == found.newest.epoch) continue;
    Superblock mine = found.newest;
    mine.role = role;
    mine.member = place.superblock->member;
    const Status written = write_superblock(members, place.place, 1 - place.copy, mine);
    if (written) {
      shared.roster.copy(role) ^= 1U;
    } else {
      shared.roster.mark_out(role, written.error().message);
    }
  }
}

Status load_index(SharedState& shared, const Superblock& newest) {
  const MemberLayout& layout = shared.layout;
  for (unsigned role = 0; role < layout.roles(); ++role) {
    if (!shared.roster.is_live(role)) continue;
    std::vector<MemberRequest> requests;
    const std::span<std::byte> all = shared.index.bytes();
    for (std::uint64_t at = 0; at < all.size(); at += piece_bytes) {
      MemberRequest request;
      request.member = role;
      request.offset = layout.copy_at(newest.index_copy) + at;
      request.bytes = all.subspan(at, std::min<std::uint64_t>(piece_bytes, all.size() - at));
      requests.push_back(request);
    }
    if (shared.roster.run(requests) != 0) continue;
    if (shared.index.check_root(newest.index_root) && shared.index.has_sound_slots()) return Done{};
  }
  return make_error(ErrorCode::corrupt, "no member has a valid index");
}

// Finds what rebuilds still have to do. The log is not applied yet; it only makes that less.
void resume_rebuilds(SharedState& shared, const Superblock& newest) {
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    const RoleRecord& record = newest.roles[role];
    if (shared.roster.state(role) != MemberState::rebuilding) continue;
    shared.roster.set_todo(role, [&](std::uint64_t stripe) {
      if (stripe < record.watermark) return false;
      if (record.by_missed && !shared.index.is_missed(stripe)) return false;
      // Older versions write to a hole without the member, so holes count until the log is applied.
      if (!record.slots_done) return true;
      const std::uint32_t slot = shared.index.slot_of(stripe);
      return slot != no_slot && slot >= *record.slots_done;
    });
  }
}

// The log is applied: holes lack nothing. A stripe that became a hole and was written again may
// still count as lacking, in a slot that the rebuild has passed, so the rebuild goes back to it.
void end_replay(SharedState& shared) {
  Roster& roster = shared.roster;
  for (unsigned role = 0; role < shared.layout.roles(); ++role) {
    if (roster.state(role) != MemberState::rebuilding) continue;
    std::uint64_t slots_done = roster.slots_done(role);
    for (std::uint64_t stripe = 0; stripe < shared.layout.stripes; ++stripe) {
      const std::uint32_t slot = shared.index.slot_of(stripe);
      if (slot == no_slot) {
        roster.set_has(std::uint64_t{1} << role, stripe);
      } else if (!roster.has(role, stripe)) {
        slots_done = std::min<std::uint64_t>(slots_done, slot);
      }
    }
    roster.set_progress(role, roster.watermark(role), slots_done);
  }
}

// Resumes the copy of a member that is being replaced. Without the spare, the next superblock lists
// no successor.
void resume_copy(SharedState& shared, const Survey& found) {
  const Successor& successor = found.newest.successor;
  if (successor.role == no_role || shared.options.is_read_only) return;
  if (shared.roster.state(successor.role) != MemberState::in) return;
  for (const FoundPlace* spare : found.spares) {
    const bool is_it = spare->superblock->member == successor.uuid;
    const auto& spares = shared.roster.spares();
    const bool is_used = std::any_of(spares.begin(), spares.end(), [&](const SparePlace& one) {
      return one.place == spare->place;
    });
    if (!is_it || !is_used || is_stale(*spare->superblock, found.newest)) continue;
    shared.roster.set_successor({successor.role, spare->place},
                                std::min(successor.slots_done, shared.layout.slots));
    shared.index.set_all_changed();
  }
}

Status recover(OpenArray& array, const Superblock& newest, bool is_member_missing) {
  Recovery recovery(array.shared, array.loader, newest);
  {
    Log::Locked log(array.log);
    log.begin_session(is_member_missing);
    CALPE_CHECK(recovery.run(log));
    array.batches_replayed = recovery.batches_replayed();
    array.shared.stripes.take_from(array.shared.index);
    end_replay(array.shared);
    if (array.shared.options.is_read_only) return array.shared.roster.check();
    CALPE_CHECK(log.begin_appending());
  }
  recovery.heal();  // may commit, as other repairs do
  return array.log.commit();
}

}  // namespace

Result<std::unique_ptr<OpenArray>> open_array(Members& members, const OpenOptions& options) {
  CALPE_TRY(const Survey found, survey(members));
  CALPE_CHECK(check_any_there(found));
  CALPE_CHECK(check_not_split(found));
  if (found.newest.unknown_features != 0 && !options.is_read_only) {
    return invalid("the array uses features ", found.newest.unknown_features,
                   " that this version does not know; use a newer version of Calpe, or open it "
                   "read-only (nbdkit -r)");
  }
  CALPE_TRY(const Codec codec, codec_for(found.newest.settings.spec));
  auto array = std::make_unique<OpenArray>(members, found.newest, codec, options);
  SharedState& shared = array->shared;
  CALPE_TRY(const std::uint64_t gone, assign(shared, found, options));
  for (const FoundPlace* spare : found.spares) {
    if (members.bytes(spare->place) < shared.layout.member_bytes) continue;
    shared.roster.spares().push_back({spare->place, spare->superblock->member, spare->copy});
  }
  array->diverged_roles = found.diverged;
  if (options.lease != nullptr) {
    CALPE_CHECK(options.has_lease ? array->log.keep_lease() : array->log.claim_lease());
  } else if (!options.is_read_only) {
    equalise(shared, members, found);
  }
  CALPE_CHECK(load_index(shared, found.newest));
  resume_rebuilds(shared, found.newest);
  resume_copy(shared, found);
  CALPE_CHECK(recover(*array, found.newest, gone != 0));
  return array;
}

}  // namespace calpe::array
