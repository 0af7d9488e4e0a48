# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: partial repair, and directories that change. See mutations.py."""
from mutation import Mutation

PARTIAL = "unit_store/PartialRepair.*"
LIVE = "unit_store/LiveTree.*"
SCRUB = "unit_store/Scrub.*"

USE_LIVE = [
    Mutation("partial repair: a block that cannot be rebuilt gets a checksum",
             "src/store/repair/repair_set.cpp",
             "if (is_wanted && is_known) wanted.add(j);", "if (is_wanted) wanted.add(j);",
             (PARTIAL,)),
    Mutation("partial repair: good blocks of a lost stripe are not written to a new file",
             "src/store/repair/repair_set.cpp",
             "          *outcomes_[j] == Rebuilt::done || "
             "slots_.has_good(slots_.slots()[slot].index, j);",
             "          *outcomes_[j] == Rebuilt::done;", ("files_damage",)),
    Mutation("protect: the rest of a changed file is not replaced by zeros",
             "src/store/tree/tree_source.cpp",
             "      zeros_ += entry().extents[extent_].bytes - extent_done_;",
             "      zeros_ += 0;", (LIVE,)),
    Mutation("protect: a changed file that could not be read again stays in the list",
             "src/store/tree/tree_source.cpp", "      left.push_back(file.entry);\n", "", (LIVE,)),
    Mutation("protect: a run that replaced bytes by zeros can be resumed",
             "src/store/tree/tree_source.cpp", "    is_as_identified_ = false;\n", "", (LIVE,)),
    Mutation("verify: the parts of a set leave out the rest of the division",
             "src/store/read/scrub.cpp", " + std::min(part - 1, rest)", "", (SCRUB,)),
    Mutation("verify: a part reports stripes of the others as lost", "src/store/read/survey.cpp",
             "{reachable, wanted.end() - reachable}",
             "{reachable, files.geometry().stripe_count - reachable}", (SCRUB,)),
]
