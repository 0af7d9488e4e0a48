# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: placement of shards, loss margin, wrong sources. See mutations.py."""
from mutation import Mutation

WRONG_SOURCE = "use_files:wrong_source"
OPERATOR = "use_files:operator"
MARGIN = "unit_store/LossCount.*:ChooseFolders.*"

USE_PLACEMENT = [
    Mutation("repair: an empty folder that was named takes no shard",
             "tools/calpe/files/cmd_repair.cpp",
             "  options.named = named_folders(arguments.files);\n", "", (OPERATOR,)),
    Mutation("losses: the directories with the fewest shards are lost first",
             "src/store/read/loss_count.cpp",
             "std::sort(sizes.begin(), sizes.end(), std::greater<>());\n      std::size_t count",
             "std::sort(sizes.begin(), sizes.end(), std::less<>());\n      std::size_t count",
             (MARGIN, OPERATOR)),
    Mutation("losses: damaged blocks are taken for good ones", "src/store/read/survey.cpp",
             "kind.push_back(slots.is_good(slot, j) ? 1 : 0);", "kind.push_back(1);", (OPERATOR,)),
    Mutation("losses: a directory is not lost with the one above it",
             "src/store/read/set_layout.cpp",
             "path == folder || path.starts_with(in_folder(folder, \"\"))", "path == folder",
             (OPERATOR,)),
    Mutation("repair: devices do not count where shards go", "src/store/read/set_layout.cpp",
             "  if (by_device.losses_when_whole(coder).is_better_than(",
             "  if (false && Losses().is_better_than(",
             (MARGIN,)),
    Mutation("repair: a device is gained by losing a directory", "src/store/read/loss_margin.hpp",
             "directories >= other.directories && ", "", (MARGIN,)),
    Mutation("repair: missing shards go to the fullest folder", "src/store/read/set_layout.cpp",
             "count >= fewest) continue;", "count <= fewest) continue;", (MARGIN,)),
    Mutation("update: a source without most of the files is taken",
             "src/store/change/update_set.cpp",
             "      CALPE_CHECK(check_removal(removal, source_, options_.removed_percent_max));\n",
             "", (WRONG_SOURCE,)),
    Mutation("update: bytes that files became shorter by are not counted",
             "src/store/change/removal_guard.cpp", "bytes - std::min(bytes, kept[i])",
             "kept[i] == 0 && is_gone[i] ? bytes : 0", (WRONG_SOURCE,)),
    Mutation("update of originals: a source without most of the files is taken",
             "src/store/change/update_in_place.cpp",
             "    CALPE_CHECK(check_removal(removal, set_.original, "
             "options_.removed_percent_max));\n",
             "", ("unit_store/InPlaceUpdate.*",)),
    Mutation("update of originals with a check: a source without most of the files is taken",
             "src/store/change/reencode_originals.cpp",
             "    CALPE_CHECK(check_removal(removal, set_.original, "
             "options_.removed_percent_max));\n",
             "", ("unit_store/InPlaceUpdate.*",)),
]
