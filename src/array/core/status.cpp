// SPDX-License-Identifier: Apache-2.0
// What is to be told: of an open array, and of superblocks alone.
#include <algorithm>

#include "array/core/array_core.hpp"
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

MemberStatus status_of(const Survey& found, unsigned role, unsigned no_place_number) {
  const RoleRecord& record = found.newest.roles[role];
  const FoundPlace* place = found.by_role[role];
  MemberStatus status;
  status.place = place == nullptr ? no_place_number : place->place;
  status.role = role;
  status.state = record.state;
  status.uuid = record.uuid;
  status.stripes_done = record.watermark;
  if (place != nullptr) status.epoch = place->superblock->epoch;
  const bool is_diverged = (found.diverged >> role & 1U) != 0;
  status.can_return = !is_diverged && can_return(record, place);
  if (place == nullptr) {
    status.state = MemberState::out;
    status.why = "it is missing";
  } else if (record.state == MemberState::out) {
    status.why = is_diverged ? "it was opened without the others (split brain)"
                             : "it went out, and missed writes";
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
    unsigned lost = 0;
    for (unsigned role = 0; role < found.by_role.size(); ++role) {
      to.members.push_back(status_of(found, role, members.count()));
      if (to.members.back().state != MemberState::in) ++lost;
    }
    const unsigned parity = found.newest.settings.spec.parity_shards;
    to.may_fail = lost >= parity ? 0 : parity - lost;
    for (const FoundPlace* place : found.spares) {
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

ArrayStatus Core::status() {
  const std::lock_guard lock(commit_mutex_);
  ArrayStatus to;
  to.now.uuid = array_;
  to.now.settings = settings_;
  to.now.epoch = superblock_.epoch;
  to.now.lease_id = superblock_.lease.id;
  to.now.generation = superblock_.generation;
  to.now.is_clean = superblock_.is_clean;
  to.now.may_fail = roster_.may_fail();
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    const RoleRecord record = roster_.record(role);
    const RoleCounters& counters = roster_.counters(role);
    MemberStatus one;
    one.place = roster_.place(role) == no_place ? roster_.members().count() : roster_.place(role);
    one.role = role;
    one.state = record.state;
    one.uuid = record.uuid;
    one.epoch = record.state == MemberState::out ? record.out_epoch : superblock_.epoch;
    one.why = record.state == MemberState::rebuilding ? "it is being rebuilt" : roster_.why(role);
    one.can_return =
        record.state == MemberState::out && !record.needs_full && (diverged_ >> role & 1U) == 0;
    one.stripes_done = record.watermark;
    one.read_errors = counters.read_errors;
    one.write_errors = counters.write_errors;
    one.blocks_wrong = counters.blocks_wrong;
    one.blocks_repaired = counters.blocks_repaired;
    to.now.members.push_back(one);
    to.log_bytes_used = std::max(to.log_bytes_used, log_used_[role]);
  }
  for (const SparePlace& spare : roster_.spares()) {
    MemberStatus one;
    one.place = spare.place;
    one.state = MemberState::spare;
    one.uuid = spare.uuid;
    one.epoch = superblock_.epoch;
    to.now.members.push_back(one);
  }
  to.stripes = layout_.stripes;
  for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
    if (index_.slot_of(stripe) != no_slot) ++to.stripes_mapped;
  }
  to.slots_free = stripes_.free_slots().count();
  to.stripes_missed = index_.missed_count();
  to.commits = commits_;
  to.checkpoints = checkpoints_;
  to.batches_replayed = batches_replayed_;
  to.blocks_unreadable = blocks_unreadable_;
  to.failed = roster_.failed();
  return to;
}

Result<std::vector<Extent>> Core::extents(std::uint64_t offset, std::uint64_t length) {
  CALPE_CHECK(check_range(settings_, offset, length));
  std::vector<Extent> all;
  while (length != 0) {
    const StripePart part = first_part(layout_, offset, length);
    bool is_data = false;
    {
      const std::shared_lock lock(stripes_.lock_of(part.stripe));
      is_data = stripes_.at(part.stripe).slot != no_slot;
    }
    if (!all.empty() && all.back().is_data == is_data) {
      all.back().bytes += part.bytes;
    } else {
      all.push_back({offset, part.bytes, is_data});
    }
    offset += part.bytes;
    length -= part.bytes;
  }
  return all;
}

}  // namespace calpe::array
