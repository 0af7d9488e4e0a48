#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refused commands on an array that is not served: exit codes, messages, and nothing is changed.

Usage: refused_test.py CALPE PLUGIN
The members are compared byte for byte and by the time of their last change. One member was out
before, and the array was not closed cleanly, so opening it for writing would change the members.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say


def state_of(paths):
    return {path: (path.read_bytes(), os.stat(path).st_mtime_ns) for path in paths}


def main():
    lab.need("nbdkit")
    with lab.Lab(spares=1, member=640 * KIB,
                 more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        full = trial.folder / "full"
        full.write_bytes(b"x" * 640 * KIB)
        trial.start("take-spares=no")
        for member in (1, 4):
            trial.array("fail", "--member", member, "--control", trial.control)
        refused = ("fail", "--member", 2, "--control", trial.control)
        claim("at most 2 may be" in trial.array(*refused, expected=1), "served")
        trial.kill()
        paths = [*trial.members, *trial.spare_files]
        before = state_of([*paths, full])
        cases = (
            (1, "at most 2 may be", "fail", "--member", 2),
            (3, "member 1 is already out", "fail", "--member", 1),
            (3, "member is 9", "fail", "--member", 9),
            (3, "member 2 is not out", "replace", "--member", 2, "--with", full),
            (3, "is not empty", "replace", "--member", 1, "--with", full),
            (3, "member 0 and in use", "replace", "--member", 1, "--with", trial.members[0]),
            (4, "nowhere", "replace", "--member", 1, "--with", trial.folder / "nowhere"),
            (3, "is not empty", "add", "--spare", full),
            (3, "only a server has rates", "rate", "--scrub", "1M"),
            (3, "--stop needs --control", "scrub", "--stop"),
            (3, "--detach needs --control", "rebuild", "--detach"),
        )
        for code, message, verb, *options in cases:
            said = trial.array(verb, *options, *paths, expected=code)
            claim(message in said, f"{verb} {options}: {said}")
            claim(state_of([*paths, full]) == before, f"{verb} {options} changed a file")
        # Too few members: data is lost, as far as they know.
        trial.array("scrub", *paths[:4], expected=2)
        claim(state_of([*paths, full]) == before, "scrub with too few members changed a file")
        say(f"{len(cases) + 1} commands were refused and changed nothing")
        # The others still work.
        members = trial.members
        trial.array("rebuild", *members, expected=1)
        for member in (1, 4):
            trial.array("replace", "--member", member, "--with", members[member], *members)
        trial.array("rebuild", *members)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
