// SPDX-License-Identifier: Apache-2.0
#include "array/core/member_admin.hpp"

#include <algorithm>

#include "array/format/member_format.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

template <class... Parts>
Error refuse(const Parts&... parts) {
  return make_error(ErrorCode::invalid_argument, parts...);
}

}  // namespace

MemberAdmin::MemberAdmin(SharedState& shared, Log& log, Rebuild& rebuild, WriteGate& gate)
    : shape_(shared.shape),
      layout_(shared.layout),
      array_(shared.array),
      roster_(shared.roster),
      index_(shared.index),
      table_(shared.table),
      log_(log),
      rebuild_(rebuild),
      gate_(gate) {}

// Returns nullptr if the place is not a spare.
const SparePlace* MemberAdmin::find_spare(unsigned place) const {
  const auto& spares = roster_.spares();
  const auto found = std::find_if(spares.begin(), spares.end(),
                                  [&](const SparePlace& spare) { return spare.place == place; });
  return found == spares.end() ? nullptr : &*found;
}

Status MemberAdmin::check_role(unsigned role) const {
  if (role < layout_.roles()) return Done{};
  return refuse("member is ", role, "; expected less than ", layout_.roles());
}

Status MemberAdmin::check_new_place(unsigned place) {
  Members& members = roster_.members();
  if (place >= members.count() || members.bytes(place) == 0) {
    return refuse(members.name(place), " is missing or empty");
  }
  if (members.bytes(place) < layout_.member_bytes) {
    return refuse(members.name(place), " has ", members.bytes(place), " bytes; expected at least ",
                  layout_.member_bytes);
  }
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.is_live(role) && roster_.place(role) == place) {
      return refuse(members.name(place), " is already member ", role);
    }
  }
  // The same disk over another path, or a copy, which would be mistaken for it.
  const FoundPlace found = look_at(members, place);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (found.superblock && roster_.is_live(role) &&
        found.superblock->member == roster_.record(role).uuid) {
      return refuse(members.name(place), " is member ", role, " of this array, which is in use; ",
                    "if it is a copy on another disk, erase the first 8 KiB of the copy");
    }
  }
  return Done{};
}

Status MemberAdmin::fail(unsigned role) {
  return leave(role, taken_out_text, Exit::on_request);
}

Status MemberAdmin::lose(unsigned role, const std::string& why) {
  return leave(role, why, Exit::needs_full);
}

Status MemberAdmin::leave(unsigned role, const std::string& why, Exit exit) {
  CALPE_CHECK(check_role(role));
  Log::Locked log(log_);
  // A member that is out for another reason would come back without being asked.
  const bool stays_out = exit != Exit::on_request || roster_.record(role).on_request;
  if (!roster_.is_live(role) && stays_out) return refuse("member ", role, " is already out");
  if (roster_.state(role) == MemberState::in && roster_.may_fail() == 0) {
    return make_error(ErrorCode::unrecoverable, roster_.not_in_count(),
                      " members are out or rebuilding; at most ", layout_.parity, " may be");
  }
  roster_.mark_out(role, why, exit);
  return log.settle_members();
}

Status MemberAdmin::add(unsigned place) {
  Log::Locked log(log_);
  CALPE_CHECK(check_new_place(place));
  if (find_spare(place) != nullptr)
    return refuse(roster_.members().name(place), " is already a spare");
  return add_spare(log, place);
}

// The superblocks of members do not list spares, so a spare is one as long as its own say so.
Status MemberAdmin::remove_spare(unsigned place) {
  Log::Locked log(log_);
  Members& members = roster_.members();
  if (find_spare(place) == nullptr) return refuse(members.name(place), " is not a spare");
  if (roster_.successor().place == place) {
    roster_.drop_successor("its new disk was removed");
    CALPE_CHECK(log.settle_members());
  }
  std::erase_if(roster_.spares(), [&](const SparePlace& spare) { return spare.place == place; });
  CALPE_CHECK(log.check_lease());
  return wipe_superblocks(members, place);
}

Status MemberAdmin::add_spare(Log::Locked& log, unsigned place) {
  CALPE_CHECK(wipe_member(roster_.members(), place, layout_));
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.place(role) == place) roster_.set_place(role, no_place);
  }
  // The next superblock has this epoch or a later one, so the uuid is new.
  const std::uint64_t epoch = log.superblocks().next_epoch();
  roster_.spares().push_back({place, member_uuid(array_, epoch, place), 1});
  roster_.set_changed();
  CALPE_CHECK(log.settle_members());
  if (find_spare(place) != nullptr) return Done{};
  return make_error(ErrorCode::io, "cannot write ", roster_.members().name(place));
}

// Needs a closed gate: a write that began without the member would be missing on it.
Status MemberAdmin::start_rebuild(Log::Locked& log, unsigned role, const SparePlace& place,
                                  bool by_missed) {
  CALPE_CHECK(log.commit());
  CALPE_CHECK(log.checkpoint());  // the new member's log may hold old batches
  table_.forget(role);
  if (roster_.successor().place == place.place) {
    roster_.drop_successor("its new disk replaces another member");
  }
  std::erase_if(roster_.spares(),
                [&](const SparePlace& spare) { return spare.place == place.place; });
  roster_.set_place(role, place.place);
  roster_.copy(role) = place.copy;
  if (place.uuid != roster_.record(role).uuid) roster_.set_errors(role, {});  // another disk
  RoleRecord record;
  record.uuid = place.uuid;
  record.state = MemberState::rebuilding;
  record.by_missed = by_missed;
  record.slots_done = 0;
  if (by_missed) record.out_epoch = roster_.record(role).out_epoch;
  roster_.set_todo(role, [&](std::uint64_t stripe) {
    if (by_missed && !index_.is_missed(stripe)) return false;
    return index_.slot_of(stripe) != no_slot;
  });
  roster_.set(role, record);
  index_.set_all_changed();  // the new member has no index yet
  roster_.set_changed();
  CALPE_CHECK(log.settle_members());
  CALPE_CHECK(log.checkpoint());
  if (roster_.is_live(role)) return Done{};
  return make_error(ErrorCode::io, roster_.why(role));
}

Status MemberAdmin::replace(unsigned role, unsigned place) {
  CALPE_CHECK(check_role(role));
  const auto paused = rebuild_.pause();
  const WriteGate::Closed closed(gate_);
  Log::Locked log(log_);
  CALPE_CHECK(check_new_place(place));
  if (roster_.is_live(role)) return start_copy(log, role, place);
  if (find_spare(place) == nullptr) CALPE_CHECK(add_spare(log, place));
  const SparePlace spare = *find_spare(place);
  return start_rebuild(log, role, spare, false);
}

// The member stays in, and serves until the successor has everything (member_copy.hpp).
Status MemberAdmin::start_copy(Log::Locked& log, unsigned role, unsigned place) {
  if (roster_.state(role) == MemberState::rebuilding) {
    return refuse("member ", role,
                  " is being rebuilt; replace it when that is complete, or take "
                  "it out first with calpe array fail");
  }
  if (const SuccessorAt now = roster_.successor(); now.role != no_role) {
    return refuse("member ", now.role, " is being replaced by ", roster_.members().name(now.place),
                  "; wait until that is complete, or cancel it ",
                  "with calpe array remove --spare ", roster_.members().name(now.place));
  }
  if (find_spare(place) == nullptr) CALPE_CHECK(add_spare(log, place));
  CALPE_CHECK(log.commit());
  roster_.set_successor({role, place}, 0);
  index_.set_all_changed();  // the new disk has no index yet
  roster_.set_changed();
  CALPE_CHECK(log.settle_members());
  CALPE_CHECK(log.checkpoint());  // its log may hold old batches
  if (roster_.successor() == SuccessorAt{role, place}) return Done{};
  return make_error(ErrorCode::io, "member ", role,
                    " is not replaced: ", roster_.why_no_successor());
}

// The role that the first free spare can take, and that spare.
std::optional<std::pair<unsigned, SparePlace>> MemberAdmin::spare_to_take() const {
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) continue;
    // The new disk of a member that is being replaced is not free.
    const auto& spares = roster_.spares();
    const auto free = std::find_if(spares.begin(), spares.end(), [&](const SparePlace& one) {
      return one.place != roster_.successor().place;
    });
    if (free == spares.end()) return std::nullopt;
    return std::pair(role, *free);
  }
  return std::nullopt;
}

Result<bool> MemberAdmin::take_spare() {
  const auto paused = rebuild_.pause();
  {
    const Log::Locked log(log_);
    if (!spare_to_take()) return false;  // without stopping writers
  }
  const WriteGate::Closed closed(gate_);
  Log::Locked log(log_);
  const auto found = spare_to_take();
  if (!found) return false;
  CALPE_CHECK(start_rebuild(log, found->first, found->second, false));
  return true;
}

// Marks stripes as missed whose page of checksums was being written when the member went out.
void MemberAdmin::miss_unsound_pages(unsigned role) {
  std::vector<bool> is_unsound(layout_.table_pages);
  for (std::uint64_t page = 0; page < layout_.table_pages; ++page) {
    is_unsound[page] = !table_.is_sound(role, page);
  }
  for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
    const std::uint32_t slot = index_.slot_of(stripe);
    if (slot == no_slot) continue;
    const std::uint64_t first = layout_.table_index(slot, 0) / page_checksums;
    const std::uint64_t last = layout_.table_index(slot, layout_.columns - 1) / page_checksums;
    if (is_unsound[first] || is_unsound[last]) index_.set_missed(stripe);
  }
}

Status MemberAdmin::readd(unsigned role) {
  CALPE_CHECK(check_role(role));
  const auto paused = rebuild_.pause();
  // Changes that were put without this member must be committed before it is live again.
  const WriteGate::Closed closed(gate_);
  Log::Locked log(log_);
  if (roster_.is_live(role)) return refuse("member ", role, " is not out");
  const RoleRecord record = roster_.record(role);
  if (record.needs_full) return refuse("member ", role, " needs a full rebuild");
  Members& members = roster_.members();
  for (unsigned place = 0; place < members.count(); ++place) {
    if (members.bytes(place) < layout_.member_bytes) continue;
    const FoundPlace found = look_at(members, place);
    if (!found.superblock || found.superblock->array != array_ ||
        found.superblock->member != record.uuid) {
      continue;
    }
    if (has_diverged(*found.superblock, log.superblocks().newest(), role)) {
      return refuse("member ", role,
                    " was opened without members that are in use here (split brain)",
                    " and may hold writes that they lack; replace --force erases it");
    }
    if (found.superblock->epoch < record.out_epoch) {
      return refuse(found.name, " is too old; member ", role, " needs a full rebuild");
    }
    CALPE_CHECK(log.commit());
    CALPE_CHECK(log.checkpoint());
    roster_.set_place(role, place);
    table_.forget(role);
    miss_unsound_pages(role);
    return start_rebuild(log, role, {place, record.uuid, found.copy}, true);
  }
  return refuse("member ", role, " was not found");
}

Status MemberAdmin::grow(unsigned place, const CodeSpec& spec) {
  Log::Locked log(log_);
  if (roster_.not_in_count() != 0) {
    return refuse(roster_.not_in_count(), " members are out or rebuilding; all must be live");
  }
  if (roster_.successor().role != no_role) {
    return refuse("member ", roster_.successor().role, " is being replaced; complete that first ",
                  "with calpe array rebuild");
  }
  const unsigned role = layout_.roles();
  if (role >= shape_.members_max) {
    return refuse("the array has ", role, " members and no room for more");
  }
  CALPE_CHECK(check_new_place(place));
  CALPE_CHECK(log.commit());
  if (find_spare(place) == nullptr) CALPE_CHECK(add_spare(log, place));
  CALPE_CHECK(log.checkpoint());
  const SparePlace* spare = find_spare(place);
  if (spare == nullptr || roster_.not_in_count() != 0) {
    return make_error(ErrorCode::io, "a member failed; no parity was added");
  }
  // From here on the members are ahead of this object, which must not be used any longer.
  RoleRecord record;
  record.uuid = spare->uuid;
  record.state = MemberState::rebuilding;
  Superblock next = log.superblocks().newest();
  next.previous = log.superblocks().durable_epoch();
  ++next.epoch;
  next.settings.spec = spec;
  next.roles.push_back(record);
  next.is_clean = true;
  next.lease.is_held = false;
  CALPE_CHECK(log.check_lease());
  for (unsigned one = 0; one < role; ++one) {
    next.role = one;
    next.member = next.roles[one].uuid;
    CALPE_CHECK(
        write_superblock(roster_.members(), roster_.place(one), 1 - roster_.copy(one), next));
  }
  next.role = role;
  next.member = record.uuid;
  return write_superblock(roster_.members(), place, 1 - spare->copy, next);
}

Return MemberAdmin::returning(const Superblock& found, unsigned role) {
  Log::Locked log(log_);
  if (has_diverged(found, log.superblocks().newest(), role)) return Return::diverged;
  const RoleRecord record = roster_.record(role);
  const bool is_known = !record.needs_full && found.epoch >= record.out_epoch;
  return is_known ? Return::by_missed : Return::in_full;
}

}  // namespace calpe::array
