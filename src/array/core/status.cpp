// SPDX-License-Identifier: Apache-2.0
// Status of an open array, and of superblocks alone (inspect()).
#include "array/core/status.hpp"

#include <algorithm>

#include "array/state/member_probe.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

bool can_return(const RoleRecord& record, const FoundPlace* place) {
  return place != nullptr && record.state == MemberState::out && !record.needs_full &&
         place->superblock->epoch >= record.out_epoch;
}

MemberStatus found_status(const Survey& found, unsigned role, unsigned no_place_number,
                          std::uint64_t stripes) {
  const RoleRecord& record = found.newest.roles[role];
  const FoundPlace* place = found.by_role[role];
  MemberStatus status;
  status.place = place == nullptr ? no_place_number : place->place;
  status.role = role;
  status.state = record.state;
  status.uuid = record.uuid;
  status.stripes_done =
      std::max(record.watermark, std::min(record.slots_done.value_or(0), stripes));
  status.on_request = record.on_request;
  status.read_errors = record.errors.reads;
  status.write_errors = record.errors.writes;
  status.blocks_wrong = record.errors.blocks_wrong;
  status.blocks_repaired = record.errors.blocks_repaired;
  if (place != nullptr) status.epoch = place->superblock->epoch;
  const bool is_diverged = (found.diverged >> role & 1U) != 0;
  status.can_return = !is_diverged && can_return(record, place);
  if (place == nullptr) {
    status.state = MemberState::out;
    status.why = record.on_request ? taken_out_missing_text : "it is missing";
  } else if (record.state == MemberState::out) {
    status.why = is_diverged         ? "it was opened without the others (split brain)"
                 : record.on_request ? taken_out_text
                                     : "it left the array and missed writes";
  } else if (is_stale(*place->superblock, found.newest)) {
    status.state = MemberState::out;
    status.why = "it is stale";
  } else if (record.state == MemberState::rebuilding) {
    status.why = "it is being rebuilt";
  }
  return status;
}

}  // namespace

Result<Inspection> inspect(Members& members) {
  return guarded([&]() -> Result<Inspection> {
    CALPE_TRY(const Survey found, survey(members));
    Inspection to;
    to.uuid = found.newest.array;
    to.settings = found.newest.settings;
    to.epoch = found.newest.epoch;
    to.lease_id = found.newest.lease.id;
    to.generation = found.newest.generation;
    to.is_clean = found.newest.is_clean;
    to.scrub = found.newest.scrub;
    const std::uint64_t stripes = layout_of(to.settings, found.newest.shape).stripes;
    unsigned lost = 0;
    for (unsigned role = 0; role < found.by_role.size(); ++role) {
      to.members.push_back(found_status(found, role, members.count(), stripes));
      if (to.members.back().state != MemberState::in) ++lost;
    }
    const unsigned parity = found.newest.settings.spec.parity_shards;
    to.may_fail = lost >= parity ? 0 : parity - lost;
    for (const FoundPlace* place : found.spares) {
      if (const Successor& successor = found.newest.successor;
          successor.role != no_role && successor.uuid == place->superblock->member) {
        to.members[successor.role].successor_place = place->place;
        to.members[successor.role].stripes_copied = std::min(successor.slots_done, stripes);
        continue;
      }
      MemberStatus status;
      status.place = place->place;
      status.state = MemberState::spare;
      status.uuid = place->superblock->member;
      status.epoch = place->superblock->epoch;
      to.members.push_back(status);
    }
    for (const FoundPlace* place : found.others) {
      MemberStatus status;
      status.place = place->place;
      status.why = place->superblock ? "it was replaced" : place->why;
      to.members.push_back(status);
    }
    return to;
  });
}

namespace {

MemberStatus status_of_role(OpenArray& array, unsigned role, std::uint64_t epoch) {
  const Roster& roster = array.shared.roster;
  const RoleRecord record = roster.record(role);
  MemberStatus one;
  one.place =
      roster.place(role) == no_place ? array.shared.roster.members().count() : roster.place(role);
  one.role = role;
  one.state = record.state;
  one.uuid = record.uuid;
  one.epoch = record.state == MemberState::out ? record.out_epoch : epoch;
  one.why = record.state == MemberState::rebuilding ? "it is being rebuilt" : roster.why(role);
  one.can_return = record.state == MemberState::out && !record.needs_full &&
                   (array.diverged_roles >> role & 1U) == 0;
  if (record.state == MemberState::rebuilding)
    one.stripes_done = array.shared.layout.stripes - roster.todo_count(role);
  one.on_request = record.on_request;
  if (const SuccessorAt to = roster.successor(); to.role == role) {
    one.successor_place = to.place;
    one.stripes_copied = std::min(roster.successor_slots(), array.shared.layout.stripes);
  }
  one.read_errors = record.errors.reads;
  one.write_errors = record.errors.writes;
  one.blocks_wrong = record.errors.blocks_wrong;
  one.blocks_repaired = record.errors.blocks_repaired;
  return one;
}

// Everything that the commit lock guards. The members are spares only.
ArrayStatus status_of_log(OpenArray& array, const Log::Locked& log) {
  SharedState& shared = array.shared;
  const Superblock& superblock = log.superblocks().newest();
  ArrayStatus to;
  to.now.epoch = superblock.epoch;
  to.now.lease_id = superblock.lease.id;
  to.now.generation = superblock.generation;
  to.now.is_clean = superblock.is_clean;
  to.now.scrub = superblock.scrub;
  for (unsigned role = 0; role < shared.layout.roles(); ++role)
    to.log_bytes_used = std::max(to.log_bytes_used, log.used(role));
  for (const SparePlace& spare : shared.roster.spares()) {
    if (spare.place == shared.roster.successor().place) continue;
    MemberStatus one;
    one.place = spare.place;
    one.state = MemberState::spare;
    one.uuid = spare.uuid;
    one.epoch = superblock.epoch;
    to.now.members.push_back(one);
  }
  to.stripes_mapped = shared.index.mapped_count();
  to.slots_free = shared.stripes.free_slots().count();
  to.stripes_missed = shared.index.missed_count();
  return to;
}

}  // namespace

ArrayStatus status_without_lock(OpenArray& array, const ArrayStatus& last) {
  const SharedState& shared = array.shared;
  ArrayStatus to = last;
  std::erase_if(to.now.members, [](const MemberStatus& one) { return one.role != no_role; });
  std::vector<MemberStatus> members;
  for (unsigned role = 0; role < shared.layout.roles(); ++role)
    members.push_back(status_of_role(array, role, to.now.epoch));
  to.now.members.insert(to.now.members.begin(), members.begin(), members.end());
  to.now.uuid = shared.array;
  to.now.settings = shared.settings;
  to.now.may_fail = shared.roster.may_fail();
  to.stripes = shared.layout.stripes;
  to.commits = array.log.commits();
  to.checkpoints = array.log.checkpoints();
  to.batches_replayed = array.batches_replayed;
  to.blocks_unreadable = array.loader.blocks_unreadable();
  const LostBlocks::Summary lost = shared.lost.summary();
  to.blocks_lost = lost.count;
  to.first_lost = lost.first;
  to.failed = shared.roster.failed();
  return to;
}

ArrayStatus status_of(OpenArray& array) {
  const Log::Locked log(array.log);
  return status_without_lock(array, status_of_log(array, log));
}

std::optional<ArrayStatus> try_status_of(OpenArray& array) {
  const std::optional<Log::Locked> log = Log::Locked::try_lock(array.log);
  if (!log) return std::nullopt;
  return status_without_lock(array, status_of_log(array, *log));
}

}  // namespace calpe::array
