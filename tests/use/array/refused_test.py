#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refused commands on an array that is not served: exit codes, messages, and nothing is changed.

Usage: refused_test.py CALPE PLUGIN
The members are compared byte for byte and by the time of their last change. One member was out
before, and the array was not closed cleanly, so opening it for writing would change the members.
"""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say


def state_of(paths):
    return {path: (path.read_bytes(), os.stat(path).st_mtime_ns) for path in paths}


def check_listed(trial, paths, full):
    """Commands that change something refuse paths that are not members; status notes them."""
    nowhere, empty, short = (trial.folder / name for name in ("nowhere", "empty", "short"))
    empty.write_bytes(b"")
    short.write_bytes(trial.members[0].read_bytes()[:64 * KIB])
    other = [trial.folder / f"other{i}" for i in range(3)]
    trial.array("create", "--data", 2, "--parity", 1, "--member-size", 640 * KIB, "--chunk",
                8 * KIB, "--log", 128 * KIB, *other)
    copy = trial.folder / "copy"
    shutil.copy(trial.members[0], copy)
    link = trial.folder / "link"
    link.symlink_to(trial.members[0])
    new = trial.folder / "new"
    with open(new, "wb") as file:
        file.truncate(640 * KIB)
    all_files = [*paths, full, empty, short, *other, copy, new]
    before = state_of(all_files)
    commands = (("fail", "--member", 0), ("replace", "--member", 1, "--with", new),
                ("add", "--spare", new), ("rebuild",), ("scrub",), ("grow-parity", "--new", new))
    wrong = ((nowhere, "No such file"), (empty, "missing or empty"),
             (full, "not a member of this array"), (other[0], "give the members of one array"),
             (copy, "copies of one member"), (link, "the same file"))
    for path, message in wrong:
        for verb, *options in commands:
            said = trial.array(verb, *options, *paths, path, expected=3)
            claim(message in said and str(path) in said, f"{verb} {path}: {said}")
            claim(state_of(all_files) == before, f"{verb} with {path} changed a file")
    # A copy that is cut short takes the place of the member.
    said = trial.array("scrub", short, *paths[1:], expected=3)
    claim(f"{short} is not a member of this array: it has 65536 bytes" in said, said)
    said = trial.array("grow-parity", "--new", full, *paths, expected=3)
    claim(f"{full} is not empty" in said, said)
    said = trial.array("grow-parity", "--new", new, *paths, expected=3)
    claim("2 members are out or rebuilding; all must be live" in said, said)
    claim(state_of(all_files) == before, "grow-parity changed a file")
    link.unlink()
    for path in (copy, short):  # status would find them as member 0, too
        path.unlink()
        all_files.remove(path)
        del before[path]
    for verb in ("status", "explain"):
        said = trial.array(verb, nowhere, full, *paths[1:], expected=2)
        for note in (f"note: {nowhere} is not a member of this array: cannot open {nowhere}: No "
                     "such file or directory\n",
                     f"note: {full} is not a member of this array: ",
                     f"note: member 0 was not listed; it is {paths[0]}: add this path to the "
                     "command\n"):
            claim(note in said, f"{verb}: {said}")
    hidden = trial.folder / "below"
    hidden.mkdir()
    paths[0].rename(hidden / "m0")
    said = trial.array("status", *paths[1:], expected=2)
    claim("note: member 0 was not listed; add its path to the command\n" in said, said)
    (hidden / "m0").rename(paths[0])
    claim(state_of(all_files) == before, "status changed a file")
    trial.start("take-spares=no", members=[*paths, nowhere])
    log = (trial.folder / "log").read_text()
    claim(f"calpe: note: {nowhere} is not a member of this array: cannot open" in log, log)
    unused = trial.status()["unused"]
    claim([one["path"] for one in unused] == [str(nowhere)], unused)
    trial.kill()
    for path in (empty, *other, new):
        path.unlink()
    say(f"{len(wrong) * len(commands) + 3} commands with wrong paths changed nothing")


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
            (3, "is not empty", "replace", "--member", 2, "--with", full),
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
        check_listed(trial, paths, full)
        # The others still work.
        members = trial.members
        trial.array("rebuild", *members, expected=1)
        for member in (1, 4):
            trial.array("replace", "--member", member, "--with", members[member], *members)
        trial.array("rebuild", *members)
        # A spare that is listed may become the new parity member.
        trial.array("grow-parity", "--new", trial.spare_files[0], *paths)
        said = trial.array("status", *paths)
        claim("4+3" in said and "healthy" in said, said)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
