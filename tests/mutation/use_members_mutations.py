# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: disks in use, split brain, two servers, read-only arrays. See mutations.py."""
from mutation import Mutation

PLACES = "src/array/state/member_probe.cpp"
EXCLUSIVE = "src/array/exclusive.cpp"
CONTROL = "src/array/service/control_socket.cpp"

USE_MEMBERS = [
    Mutation("members: a side of a split brain is taken for a member that was away", PLACES,
             "  if (is_ancestor(old, newest, role)) return false;\n",
             "  if (is_ancestor(old, newest, role) || role < 64) return false;\n",
             ("use_array:split_brain",)),
    Mutation("members: one that was away honestly is taken for a side of a split brain", PLACES,
             "      if (past.session == old.session) return old.epoch <= past.last_epoch;\n",
             "      if (past.session == old.session) return old.epoch < past.last_epoch / 2;\n",
             ("unit_array/SplitBrain.*",)),
    Mutation("members: the lease of another server is ignored", EXCLUSIVE,
             "  if (first.held_leases.empty()) return first;\n",
             "  if (first.held_leases.size() < 99) return first;\n", ("use_array:two_servers",)),
    Mutation("members: a server that was suspended writes on", "src/array/core/held_lease.cpp",
             "!is_renewing_ && keeper_->is_late()", "false", ("unit_array/ArrayLease.*",)),
    Mutation("members: a long opening loses its lease", "src/array/core/held_lease.cpp",
             "if (is_opening_ && ", "if (false && ", ("unit_array/ArrayLease.*",)),
    Mutation("members: a server whose lease is taken over goes on",
             "src/array/core/held_lease.cpp", "    if (is_ours) continue;\n",
             "    if (is_ours || role < 64) continue;\n", ("use_array:two_servers",)),
    Mutation("members: nbdkit -r writes", "plugins/nbdkit/plugin.cpp",
             "is_read_only_command(command_line());",
             "is_read_only_command(command_line()) && false;", ("use_array:read_only",)),
    Mutation("members: disks that are in use are taken", "src/array/members/file_members.cpp",
             "const int claim = is_claimed ? O_EXCL : 0;", "const int claim = is_claimed ? 0 : 0;",
             ("use_array:claims",)),
    Mutation("members: disks with a file system are taken", "src/array/members/disk_contents.cpp",
             "  if (contents.other.empty()) return Done{};\n",
             "  if (contents.other.size() < 999) return Done{};\n", ("use_array:claims",)),
    Mutation("members: status promises that more may fail", "src/array/core/status.cpp",
             "    to.may_fail = lost >= parity ? 0 : parity - lost;\n",
             "    to.may_fail = parity;\n", ("use_array:operator",)),
    Mutation("control: without descriptors it spins", CONTROL,
             "  accepts_at_ = Clock::now() + between_accepts;\n", "", ("use_array:control",)),
    Mutation("control: of too many clients the one that asked last is cut off", CONTROL,
             "return a.asked_at < b.asked_at;", "return a.asked_at > b.asked_at;",
             ("unit_array/ControlSocketTest.*",)),
    Mutation("a lease is renewed between the choice of a copy and its write",
             "src/array/core/superblocks.cpp",
             "roster_.run_past_guard(std::span(requests)", "roster_.run(std::span(requests)",
             ("unit_array/ArrayLease.*",)),
]
