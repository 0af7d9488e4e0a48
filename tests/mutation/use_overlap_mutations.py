# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: locks of shard files, links swapped during a command. See mutations.py."""
from mutation import Mutation

HELD_FILES = "src/store/io/held_files.cpp"
OVERLAP = "use_files:overlap"
LINKS = "use_security:links"
UNIT = "unit_store/Held*"
SALVAGE = "use_files:salvage"

USE_OVERLAP = [
    Mutation("overlap: commands that change a set take a shared lock",
             "src/store/io/file_system.cpp",
             "kind == LockKind::exclusive ? LOCK_EX : LOCK_SH", "LOCK_SH", (UNIT, OVERLAP)),
    Mutation("overlap: a file that was replaced before it was locked is taken for the set's",
             HELD_FILES, "  return named && *named == identity;\n",
             "  return named || identity.is_known();\n", (UNIT,)),
    Mutation("overlap: new files are not locked", HELD_FILES,
             "  held_[path] = held;\n", "", (UNIT,)),
    Mutation("overlap: a set that changed before it was locked is not found again",
             "src/store/find/held_set.cpp",
             "  return header.generation == set.header.generation || !shard.journal.empty() ||\n"
             "         !shard.undo.empty();\n",
             "  return true;\n", (UNIT,)),
    Mutation("overlap: protect does not lock the set that it replaces",
             "tools/calpe/files/cmd_protect.cpp",
             "  CALPE_CHECK(hold_older(held, older));\n", "", (OVERLAP,)),
    Mutation("links: a shard is opened again when it is written", HELD_FILES,
             "  if (held->second->kind != LockKind::exclusive) "
             "return locked_error(LockKind::exclusive);\n"
             "  return share(path, held->second);\n",
             "  return beneath_->open_to_change(path);\n", (UNIT, LINKS)),
    Mutation("links: a link of another user is followed to any file",
             "src/store/io/file_system.cpp",
             "      if (is_allowed) return opened;\n", "      return opened;\n", (LINKS,)),
    Mutation("salvage: a file with zeros in place of lost bytes gets the original time",
             "tools/calpe/files/cmd_restore.cpp",
             "{ return lost.is_in(entry); }", "{ return lost.is_in(entry) && false; }", (SALVAGE,)),
    Mutation("salvage: --resume replaces a salvaged file that was written to",
             "src/store/tree/filled_time.cpp",
             "about.st_mtim.tv_nsec == mark_of(entry, about.st_mtim.tv_sec)",
             "mark_of(entry, about.st_mtim.tv_sec) != 0", (SALVAGE,)),
    Mutation("killed update: journals of shards that are found do not commit a generation",
             "src/store/find/journal_overlay.cpp",
             "  return has_each_journal;\n", "  return has_each_journal && false;\n",
             ("use_files:killed_update",)),
]
