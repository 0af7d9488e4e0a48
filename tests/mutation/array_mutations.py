# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in the array. Each loses data only after a power cut, a lost member or wrong bytes.
See mutations.py."""
from mutation import Mutation

CRASH = "array_crash_4_2"
SIMULATION = "array_simulation/Part/ArraySimulation.DiffersNowhereFromTheModel/0"
CORRUPTION = "array_corruption"
MEMORY = "array_out_of_memory/ArrayOutOfMemory."
REPLACE = "unit_array/ArrayReplaceLive."
CRASH_REPLACE = "array_crash_replace"
MEANWHILE = "unit_array/ArrayMeanwhile*"
FORGED = "unit_array/ArrayForged.*"
COMMIT = "src/array/core/commit.cpp"
APPLIED = "src/array/core/applied_batches.cpp"
SUPERBLOCKS = "src/array/core/superblocks.cpp"
EMPTY_LOG = "src/array/core/checkpoint.cpp"
RECOVERY = "src/array/core/recovery.cpp"
READING = "src/array/core/reader.cpp"
ADMIN = "src/array/core/member_admin.cpp"

ARRAY_MUTATIONS = [
    Mutation("array: the new disk of a live member is not flushed", "src/array/state/roster.cpp",
             "    const bool is_change = request.call == MemberCall::flush ||\n"
             "                           (request",
             "    const bool is_change = (request", (CRASH_REPLACE, SIMULATION)),
    Mutation("array: a new disk that missed a write is still listed", "src/array/state/roster.cpp",
             "  end_successor();\n  changed_ = true;\n", "  changed_ = true;\n",
             (REPLACE + "ANewDiskThatFailsChangesNothing",)),
    Mutation("array: a new disk that was away continues its copy", SUPERBLOCKS,
             "  if (to.role == no_role) return {};\n",
             "  if (to.role == no_role) return newest_.successor;\n",
             (REPLACE + "ANewDiskThatWasAwayIsNotResumed",)),
    Mutation("array: a new disk takes over before its last stripe",
             "src/array/core/member_copy.cpp",
             "  if (watermark == layout_.stripes) CALPE_CHECK(take_over(log, to));\n",
             "  if (watermark + 1 >= layout_.stripes) CALPE_CHECK(take_over(log, to));\n",
             (REPLACE + "KeepsRedundancyUntilTheNewDiskTakesOver",)),
    Mutation("array: a new disk takes over before it is flushed",
             "src/array/core/member_copy.cpp",
             "  if (is_there()) roster_.set_successor_watermark(watermark);\n"
             "  CALPE_CHECK(log.checkpoint());\n",
             "  if (is_there()) roster_.set_successor_watermark(watermark);\n",
             (CRASH_REPLACE, SIMULATION)),
    Mutation("array: the new disk gets the superblocks of the old one",
             "src/array/state/roster.cpp", " && request.offset >= log_at);", ");",
             (REPLACE + "KeepsRedundancyUntilTheNewDiskTakesOver", CRASH_REPLACE)),
    Mutation("array: a repaired checksum undoes that of a write that followed",
             "src/array/state/batch.cpp",
             "  if (has_found_checks_) replace_found(found->second, role, check);\n", "",
             ("unit_array/Array.AWriteToABlockThatWasJustRepairedCounts",)),
    Mutation("array: whole stripes are not flushed before the commit that names them", COMMIT,
             "  if (is_repair || overlay_.committing().needs_flush()) flush_live();\n",
             "  if (is_repair) flush_live();\n", (CRASH,)),
    Mutation("array: parts of a batch are not durable when it is acknowledged", COMMIT,
             "    request.is_durable = true;\n", "", (CRASH,)),
    Mutation("array: a member's going out is not durable before a write is acknowledged",
             COMMIT, "    superblocks_.write();\n", "", (SIMULATION,)),
    Mutation("array: a commit that ran out of memory leaves the array in use",
             "src/array/core/log.hpp",
             "      roster_.stop_without_memory();\n    }\n    return roster_.check();\n",
             "    }\n    return Error{ErrorCode::out_of_memory, \"out of memory\"};\n",
             (MEMORY + "KeepsAcknowledgedWritesOrStops",)),
    Mutation("array: a log counts a part before the batch can be sent", COMMIT,
             "    requests.push_back(request);\n  }\n"
             "  for (const MemberRequest& request : requests) {\n"
             "    used_[request.member] += request.bytes.size();\n  }\n",
             "    used_[role] += request.bytes.size();\n    requests.push_back(request);\n  }\n",
             (MEMORY + "LogsCountOnlyTheBatchesThatWereSent",)),
    Mutation("array: a member's going out is forgotten when memory runs out", COMMIT,
             "      roster_.set_changed();  // the next call writes them\n", "",
             (MEMORY + "RecordsAMemberThatLeft",)),
    Mutation("array: a checkpoint does not flush", EMPTY_LOG,
             "    flush_live();\n  } while", "  } while", (CRASH,)),
    Mutation("array: a checkpoint does not bump the generation of the log", SUPERBLOCKS,
             "  ++newest_.generation;\n", "", (CRASH, SIMULATION)),
    Mutation("array: a checkpoint overwrites the index that is valid", EMPTY_LOG,
             "const unsigned copy = 1 - superblocks_.newest().index_copy;",
             "const unsigned copy = superblocks_.newest().index_copy;", (CRASH,)),
    Mutation("array: a page of checksums overwrites the one that is valid",
             "src/array/state/checksum_table.cpp",
             "std::uint64_t{1} - place->place", "std::uint64_t{place->place}", (CRASH,)),
    Mutation("array: new checksums are not part of the transaction", APPLIED,
             "      table_.set(role, layout_.table_index(record.slot, record.column), checks);\n",
             "      if (role != 1)\n  "
             "      table_.set(role, layout_.table_index(record.slot, record.column), checks);\n",
             (CRASH,)),
    Mutation("array: the superblock overwrites the newest copy",
             SUPERBLOCKS,
             "request.offset = (1 - copy) * block_bytes;", "request.offset = copy * block_bytes;",
             (CRASH,)),
    Mutation("array: blocks of a batch are replayed unverified", "src/array/state/log_scan.hpp",
             "return check_.of(place, block) == record.words_of(role)[0];",
             "return place.role == role || block.empty();", (CRASH,)),
    Mutation("array: a batch that did not come to its end is replayed all the same", RECOVERY,
             "  if (!is_computed) return false;\n", "", (CRASH,)),
    Mutation("array: a batch is replayed without those who lack their part", RECOVERY,
             "  if (lacking == 0) return true;\n", "  if (lacking != 64) return true;\n", (CRASH,)),
    Mutation("array: a stale member is believed", "src/array/state/member_probe.cpp",
             "  return superblock.epoch < newest.previous;", "  return superblock.epoch == 0;",
             ("unit_array/Array.StaleMemberIsRefused",)),
    Mutation("array: a member that went out is believed when it is back",
             "src/array/core/opening.cpp",
             "    roster.set(role, record);\n",
             "    RoleRecord believed = record;\n"
             "    if (place != nullptr) believed.state = MemberState::in;\n"
             "    roster.set(role, believed);\n", (SIMULATION,)),
    Mutation("array: a slot is free before the stripe's new place is durable",
             "src/array/core/writer.cpp",
             "  taken.keep();\n  stripes_.move(at.stripe, at.slot);\n",
             "  taken.keep();\n"
             "  const std::uint32_t before = stripes_.at(at.stripe).slot;\n"
             "  if (before != no_slot) stripes_.free_slots().give(before);\n"
             "  stripes_.move(at.stripe, at.slot);\n",
             (CRASH, SIMULATION)),
    Mutation("array: the watermark is ahead of what was rebuilt", "src/array/core/rebuild.cpp",
             "roster_.set_watermark(role, group_end);",
             "roster_.set_watermark(role, std::min(group_end + 1, layout_.stripes));",
             (SIMULATION,)),
    Mutation("array: a stripe that was missed before is counted again",
             "src/array/format/index.cpp", "  if (is_missed(stripe)) return;\n", "",
             ("unit_array/ArrayCounters.*",)),
    Mutation("array: stripes written without a member are not remembered", APPLIED,
             "    index_.set_missed(stripe);\n  }\n}\n\nvoid AppliedBatches::set_zeros",
             "    index_.is_missed(stripe);\n  }\n}\n\nvoid AppliedBatches::set_zeros",
             (SIMULATION,)),
    Mutation("array: a write without a data member leaves parity as it was",
             "src/array/state/part_plan.cpp",
             "    column.changed = column.written | plan.parity;\n",
             "    column.changed = column.written;\n"
             "    if ((column.written & ~having) == 0) column.changed |= plan.parity;\n",
             (SIMULATION,)),
    Mutation("array: a block that was read is not compared with its checksum",
             "src/array/core/stripe_loader.cpp",
             "check_.of(place, buffer.block(shard, column)) == buffer.checks[i];",
             "true;", (CORRUPTION,)),
    Mutation("array: a member that leaves while a read looks up blocks is believed", READING,
             "newest.\n    if (!roster_.has(role, part.stripe)) {", "newest.\n    if (false) {",
             (MEANWHILE,)),
    Mutation("array: checksums are looked up before it is asked whether newer ones wait", READING,
             "    if (has_overlay) {\n", "    if (has_overlay && overlay_.has_any()) {\n",
             (MEANWHILE,)),
    Mutation("array: a stripe is decoded from a member that left while it was loaded",
             "src/array/core/stripe_loader.cpp",
             "while ((one.having & ~roster_.having(one.at.stripe)) != 0) {", "while (false) {",
             (MEANWHILE,)),
    Mutation("array: a forged block lands outside its part", "src/array/format/log_format.cpp",
             "if (place >= count || is_taken[place]) return false;",
             "if (place >= layout.blocks_most || is_taken[place % count]) return false;",
             (FORGED,)),
    Mutation("array: a forged chunk begins in its middle", "src/array/format/log_format.cpp",
             "(has_column ? layout.columns : 1)", "layout.columns", (FORGED,)),
    Mutation("array: a forged batch ends behind the log", "src/array/state/log_scan.cpp",
             "if (header.part_bytes(role) > layout_.log_bytes - at_[role]) return false;", "",
             (FORGED,)),
    Mutation("array: two stripes of a forged index share a slot", "src/array/format/index.cpp",
             "if (slot >= is_taken.size() || is_taken[slot]) return false;",
             "if (slot >= is_taken.size()) return false;", (FORGED,)),
    Mutation("array: a forged member has two roles", "src/array/format/superblock.cpp",
             "if (roles[other].uuid != to.uuid) continue;", "if (other <= role) continue;",
             (FORGED,)),
    Mutation("array: a member that missed more than is known is taken back", ADMIN,
             "  if (record.needs_full) return refuse(", "  if (record.by_missed) return refuse(",
             (SIMULATION,)),
    Mutation("array: a member of an earlier time is taken back", ADMIN,
             "    if (found.superblock->epoch < record.out_epoch) {",
             "    if (found.superblock->epoch == 0) {", (SIMULATION,)),
    Mutation("array: parity grows while a member is not in", ADMIN,
             "  if (roster_.not_in_count() != 0) {\n    return refuse(",
             "  if (roster_.is_failed()) {\n    return refuse(",
             ("unit_array/Array.ParityDoesNotGrowWhileAMemberIsOut",)),
]
