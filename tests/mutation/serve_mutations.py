# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in the array server and in file members. See mutations.py."""
from mutation import Mutation

SERVE = "unit_array"
FILES = "unit_array/*FileMembers*"
SERVICE = "src/array/service/service.cpp"
SCRUBS = "src/array/service/scrub_work.cpp"
REQUESTS = "src/array/service/requests.cpp"
STATUS = "src/array/service/status_json.cpp"
FILE_MEMBERS = "src/array/members/file_members.cpp"
OPENED = "src/array/members/opened_member.cpp"

SERVE_MUTATIONS = [
    Mutation("serve: spares are taken where they should wait, and wait where they are wanted",
             SERVICE, "  if (takes_spares) {\n", "  if (!takes_spares) {\n", (SERVE,)),
    Mutation("serve: an array that is closed is not marked clean", SERVICE,
             "is_read_only() ? Status(Done{}) : array_->close();", "Status(Done{});",
             (SERVE,)),
    Mutation("serve: a file that was deleted stays a member",
             "src/array/service/member_watch.cpp",
             "if (!is_answered || (!look->is_deleted && !look->is_truncated)) return {};",
             "if (!is_answered || !look->is_truncated) return {};", (SERVE,)),
    Mutation("serve: pause does not pause", SCRUBS,
             "if (!is_scrubbing_ || is_paused_) return now", "if (!is_scrubbing_) return now",
             (SERVE,)),
    Mutation("serve: a member that is back is rebuilt from its start", SERVICE,
             "if (!is_member(role, place) || !array_->readd(role)) {",
             "if (is_member(role, place) || !array_->readd(role)) {", (SERVE,)),
    Mutation("serve: a file that is there again is not looked for",
             "src/array/service/member_watch.cpp",
             "  if (!is_any_opened && returned_ == 0) return;\n", "  return;\n", (SERVE,)),
    Mutation("serve: what a scrub repaired is not counted", SCRUBS,
             "  scrubs_.found.repaired += step.blocks_repaired;\n", "", (SERVE,)),
    Mutation("serve: a rebuild takes no notice of its rate", SERVICE,
             "  next_rebuild_ = rebuild_pace_.after(upkeep_step_bytes(rate), rate, end);\n",
             "  next_rebuild_ = end;\n", (SERVE,)),
    Mutation("serve: the log is not emptied when there are no writes", SERVICE,
             "if (const Status done = array_->checkpoint(); !done)",
             "if (const Status done = Status(Done{}); !done)", (SERVE,)),
    Mutation("serve: a member that is in use may be added again", SERVICE,
             "if (known && member.place == *known && member.state != MemberState::out &&",
             "if (known && member.place != *known && member.state == MemberState::out &&",
             (SERVE,)),
    Mutation("serve: a request to fail a member is answered and forgotten", REQUESTS,
             "  const Status done = service.fail(member);", "  const Status done = Done{};",
             (SERVE,)),
    Mutation("serve: a refusal to lose data is told as a loss", REQUESTS,
             '  if (is_refused) return Json{{"error"', '  if (false) return Json{{"error"',
             (SERVE,)),
    Mutation("serve: an array without a member is called healthy", STATUS,
             '    if (member.state == MemberState::out) return "degraded";\n', "", (SERVE,)),
    Mutation("serve: members that are too few are not told", STATUS,
             "  if (lost <= most) return {};\n", "  if (lost <= 2 * most) return {};\n", (SERVE,)),
    Mutation("file members: two programs may write to one", FILE_MEMBERS,
             "access_ == MemberAccess::write ? LOCK_EX : LOCK_SH;",
             "access_ == MemberAccess::write ? LOCK_SH : LOCK_SH;", (FILES,)),
    Mutation("file members: one file may be two members", FILE_MEMBERS,
             "if (other != for_slot && there != nullptr && there->is_same(status))",
             "if (other == for_slot && there != nullptr && there->is_same(status))", (FILES,)),
    Mutation("file members: a deleted file is not seen", FILE_MEMBERS,
             "status.st_nlink == 0", "status.st_nlink == 99", (FILES,)),
    Mutation("file members: what is replaced is not closed", FILE_MEMBERS,
             "    if (before != nullptr) before->close_for_good();\n    slot.path = path;\n",
             "    slot.path = path;\n", (FILES,)),
    Mutation("file members: the end of a file reads as if it were there", OPENED,
             "    if (got <= 0) {\n", "    if (got == 0) return;\n    if (got < 0) {\n",
             (FILES,)),
]
