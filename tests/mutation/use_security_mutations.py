# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: keys, forged generations, expensive files. See mutations.py."""
from mutation import Mutation

PROVEN = "unit_store/ProvenBlocks*"
TAMPER = "use_security:tamper"
FORGED = "use_security:forged"
BUDGET = "use_security:budget"
KEYS = "use_security:keys"

USE_SECURITY = [
    Mutation("store: blocks that changed since they were proven are used",
             "src/store/read/open_set.cpp",
             "  if (!proven_) return;\n", "  return;\n", (PROVEN, TAMPER)),
    Mutation("store: leaves that are computed again are not compared with the proven digest",
             "src/store/format/proven_blocks.cpp",
             "leaves && digest && is_equal_digest(*digest, shard.groups[group]);",
             "leaves && digest;", (PROVEN,)),
    Mutation("store: generations may differ in the kind of root",
             "src/store/find/set_discovery.cpp",
             "  CALPE_CHECK(check_root_kinds(generations));\n", "", (FORGED,)),
    Mutation("store: a forged newer generation takes the names of shards with a root",
             "src/store/read/new_shard_names.cpp",
             "(!is_proven || root != header.root_kind)", "false", (FORGED,)),
    Mutation("files: repair chooses among generations that nothing proves",
             "tools/calpe/files/set_choice.cpp",
             "    CALPE_CHECK(check_only_one(demand, set.header, again.generations));\n", "",
             (FORGED,)),
    Mutation("store: holes where checksums should be are read", "src/store/read/open_set.cpp",
             "if (!has_holes_ || first", "if (has_holes_ || first", (BUDGET,)),
    Mutation("store: memory for a manifest is taken before it is read",
             "src/store/format/manifest.cpp",
             "piece_bytes = std::uint64_t{1} << 20U;", "piece_bytes = std::uint64_t{1} << 33U;",
             (BUDGET,)),
    Mutation("files: a key file that the group may read is taken",
             "tools/calpe/files/files_roots.cpp",
             "(about.st_mode & 077U) != 0", "(about.st_mode & 07U) != 0", (KEYS,)),
    Mutation("files: a key that comes from a pipe is read twice",
             "tools/calpe/files/files_roots.cpp",
             "  arguments.demand = demand;\n", "", (KEYS,)),
    Mutation("store: a key stays in memory", "src/store/format/key.cpp",
             "Key::~Key() {\n  wipe(bytes_);\n", "Key::~Key() {\n", ("unit_store/Key*",)),
]
