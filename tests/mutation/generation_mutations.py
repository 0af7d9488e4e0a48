# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in older generations of a set. See mutations.py."""
from mutation import Mutation

OLDER = ("unit_store/*Older*",)
CHANGE = "src/store/change/generation_update.cpp"
FIND = "src/store/find/older_generations.cpp"

GENERATIONS = [
    Mutation("old bytes are not saved", CHANGE,
             "      CALPE_CHECK(save_old_bytes(*change));\n", "", OLDER),
    Mutation("an update that may still fail forgets older generations", CHANGE,
             "              return is_undo_needed(findings, step);\n",
             "              return findings.undo_steps.empty() && step.before == 0;\n", OLDER),
    Mutation("one generation too many is kept", CHANGE, "wanted.size() < kept.count",
             "wanted.size() <= kept.count", OLDER),
    Mutation("an update that failed leaves its undo journals", CHANGE,
             "    if (!change->undo_path.empty()) static_cast",
             "    if (change->undo_path.empty()) static_cast", OLDER),
    Mutation("what an update cuts off is not saved", "src/store/change/undo_writer.cpp",
             "    return copy(std::max(done, new_file_bytes), end);", "    return Done{};", OLDER),
    Mutation("undo journals apply to any generation", FIND,
             "         header.generation == undo.step.after;", "         undo.step.after != 0;",
             OLDER),
    Mutation("undo journals are applied in any order", FIND,
             "    return a.step.after > b.step.after;", "    return a.step.after < b.step.after;",
             OLDER),
    Mutation("undo journals of updates that never happened stay",
             "src/store/change/finish_interrupted_change.cpp",
             "is_undo_needed(findings, step) || step.after <= set.header.generation",
             "is_undo_needed(findings, step) || step.after != 0", OLDER),
    Mutation("bad bytes in an undo journal are not detected", "src/store/read/older_check.cpp",
             " || plain_checksum(bytes) != write.checksum) return false;", ") return false;",
             OLDER),
    Mutation("a rebuilt undo journal lacks the checksums", "src/store/repair/rebuild_undo.cpp",
             "    if (!is_end_of_group) return Done{};", "    if (is_end_of_group) return Done{};",
             OLDER),
    Mutation("a rebuilt undo journal lacks roots", "src/store/repair/rebuild_undo.cpp",
             "      one.header = header_with_roots(one.header, roots, one.index);\n", "", OLDER),
]
