# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: durable repairs and gaps in an array's log. See mutations.py."""
from mutation import Mutation

DURABLE = ("use_array_scrub_durable",)
GAP = ("use_array_log_gap",)
BEYOND = ("use_array_beyond",)
COMMIT = "src/array/core/commit.cpp"
REPAIR = "src/array/core/block_repair.cpp"

USE_RECOVERY = [
    Mutation("array: checksums that a repair found are dropped when the batch is full", REPAIR,
             "    if (!log_.commit()) return false;\n", "    return true;\n", DURABLE),
    Mutation("array: a commit does not flush what repairs rewrote", COMMIT,
             "  if (is_repair || overlay_.committing().needs_flush()) flush_live();\n",
             "  if (overlay_.committing().needs_flush()) flush_live();\n", DURABLE),
    Mutation("array: a scrub counts repairs that it did not commit", "src/array/core/scrub.cpp",
             "  if (const Status committed = log_.commit(); !committed) return",
             "  if (const Status committed = Done{}; !committed) return", DURABLE),
    Mutation("array: repairs count before they are durable", REPAIR,
             "      overlay_.count_rewritten(role);\n    }\n",
             "      ++roster_.counters(role).blocks_repaired;\n    }\n", DURABLE),
    Mutation("array: a scrub does not look at the tables that a member has",
             "src/array/core/table_scrub.cpp",
             "        ++wrong[request.member];\n    }\n  }\n}\n\nvoid TableScrub::scrub_pages",
             "        continue;\n    }\n  }\n}\n\nvoid TableScrub::scrub_pages", DURABLE),
    Mutation("array: a scrub does not look at the index that a member has",
             "src/array/core/table_scrub.cpp",
             "        index_.set_changed(page);\n        ++wrong[request.member];\n", "", DURABLE),
    Mutation("array: a gap in the log ends it", "src/array/core/recovery.cpp",
             "  CALPE_CHECK(check_gap());\n", "", GAP + BEYOND),
    Mutation("array: a gap is only seen where the next batch should be",
             "src/array/state/log_scan.cpp",
             "at < from + count; at += block_bytes) {",
             "at < std::min(from + count, at_[role] + 1); at += block_bytes) {", GAP),
    Mutation("array: an older superblock hides a log of a later generation",
             "src/array/state/log_scan.cpp",
             "  if (!generation || *generation < name_.generation) return std::nullopt;\n",
             "  if (!generation || *generation != name_.generation) return std::nullopt;\n", GAP),
    Mutation("array: one unreadable sector hides what follows in a log",
             "src/array/state/log_scan.cpp",
             "        if (request.error) block = reader_.read(role, at, block_bytes);\n",
             "        if (request.error) block = {};\n", GAP),
]
