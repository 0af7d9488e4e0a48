#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs two commands on one set at the same time, in every ordered pair, with kill -9 of one of them
in a third of the rounds. Nothing may be lost, and a command that does not get the lock exits with
4.

After a round, at most one `calpe repair` must make the set complete. It then restores the old tree
or the new one: the new one if a command that makes it exited with 0. Without a kill, repair is
needed only if the set was damaged before, and no temporary file is left. Before the rounds, the
test itself holds locks, which is deterministic.
"""
import collections
import fcntl
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "files"))
from command import (DAMAGED, GOOD, IO, LOST, SECONDS_MAX, USAGE, Failure, expect, is_nightly,
                     program_from_arguments, read_files, run_with_seed, write_files)

VERBS = ("protect", "update", "repair", "add-parity", "verify", "restore")
READERS = ("verify", "restore")
REFUSED = "another calpe is changing this set"
ROUNDS = 20_000 if is_nightly() else 2_000
FILES = 4
FILE_BYTES = 48 * 1024


class Lab:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.targets = [folder / f"t{i}" for i in range(3)]
        self.trees = {}
        for name in ("old", "new"):
            tree = folder / name / "set"
            tree.mkdir(parents=True)
            for i in range(FILES):
                (tree / f"f{i}").write_bytes(chance.randbytes(FILE_BYTES))
            self.trees[name] = read_files(tree)
        # One unchanged file, and one that is removed.
        shutil.copy2(folder / "old/set/f0", folder / "new/set/f0")
        (folder / "new/set/f3").unlink()
        self.trees["new"] = read_files(folder / "new/set")
        calpe.must(GOOD, "protect", folder / "old/set", "--data", 4, "--parity", 2,
                   "--block-bytes", 4096, *self.outputs())
        self.template = read_files(*self.targets)
        self.seconds = {verb: self.seconds_alone(verb) for verb in VERBS}

    def seconds_alone(self, verb):
        """Measures the duration of the verb alone, to time the kills."""
        self.reset(is_damaged=verb == "repair")
        started = time.monotonic()
        self.calpe.must(GOOD, *self.arguments(verb))
        return time.monotonic() - started

    def outputs(self):
        return [word for target in self.targets for word in ("-o", target)]

    def arguments(self, verb, side="a"):
        if verb == "protect":
            return (verb, self.folder / "new/set", "--data", 4, "--parity", 2,
                    "--block-bytes", 4096, "--overwrite", *self.outputs())
        if verb == "update":
            return (verb, self.folder / "new/set", *self.targets)
        if verb == "add-parity":
            return (verb, *self.targets, "--parity", 3)
        if verb == "restore":
            return (verb, *self.targets, "-o", self.folder / f"back-{side}")
        return (verb, *self.targets)

    def reset(self, is_damaged):
        write_files(self.template, *self.targets)
        for side in "abc":
            shutil.rmtree(self.folder / f"back-{side}", ignore_errors=True)
        if not is_damaged:
            return
        paths = sorted(self.template)
        self.chance.choice(paths).unlink()
        with open(self.chance.choice([path for path in paths if path.exists()]), "r+b") as shard:
            shard.seek(4096 + self.chance.randrange(8 * 4096))
            shard.write(self.chance.randbytes(64))

    def restored(self, side):
        """Returns "old" or "new"; anything else fails."""
        back = self.folder / f"back-{side}"
        files = {path.name: path.read_bytes() for path in sorted(back.iterdir())}
        for name, tree in self.trees.items():
            if files == {path.name: content for path, content in tree.items()}:
                return name
        raise Failure(f"restore gave neither the old tree nor the new one: {sorted(files)}")


def check_held_locks(lab):
    """Deterministic: this process holds a lock on one shard."""
    rounds = 0
    for number, path in enumerate(sorted(lab.template)):
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
            for verb in (*VERBS, "info"):
                lab.reset(is_damaged=False)
                is_reader = verb in (*READERS, "info")
                with open(path, "rb") as shard:
                    fcntl.flock(shard, kind)
                    done = lab.calpe.run(*lab.arguments(verb))
                is_refused = kind == fcntl.LOCK_EX or not is_reader
                expect(done.returncode == (IO if is_refused else GOOD),
                       f"{verb} with shard {number} locked: exit {done.returncode}: {done.errors}")
                expect(is_refused == (REFUSED in done.errors), f"{verb}: {done.errors}")
                expect(not is_refused or read_files(*lab.targets) == lab.template,
                       f"{verb} was refused and changed files")
                shutil.rmtree(lab.folder / "back-a", ignore_errors=True)
                lab.calpe.must(GOOD, *lab.arguments(verb))  # the lock ended with its holder
                rounds += 1
    return rounds


def check_part_of_a_set(lab):
    """Commands on different directories of a set exclude each other by a shared one."""
    lab.reset(is_damaged=False)
    shared = sorted(lab.targets[1].iterdir())[0]
    with open(shared, "rb") as shard:
        fcntl.flock(shard, fcntl.LOCK_EX)
        for places in (lab.targets[:2], lab.targets[1:], lab.targets[1:2]):
            done = lab.calpe.run("repair", *places)
            expect(done.returncode == IO and REFUSED in done.errors,
                   f"repair {places}: exit {done.returncode}: {done.errors}")
    expect(read_files(*lab.targets) == lab.template, "a refused repair changed files")


def check_links_to_the_same_file(lab):
    """A shard found under two names is locked once, not twice."""
    lab.reset(is_damaged=False)
    extra = lab.folder / "links"
    shutil.rmtree(extra, ignore_errors=True)
    extra.mkdir()
    first = sorted(lab.template)[0]
    (extra / "again.calpe").symlink_to(first)
    lab.calpe.must(GOOD, "repair", *lab.targets, extra)
    lab.calpe.must(GOOD, "verify", *lab.targets, extra)
    shutil.rmtree(extra)


class Round:
    def __init__(self, lab, verbs):
        self.lab, self.verbs = lab, verbs
        self.is_damaged = "repair" in verbs and lab.chance.random() < 0.7
        self.killed = lab.chance.choice((0, 1)) if lab.chance.random() < 1 / 3 else None
        self.codes = [None, None]
        self.errors = ["", ""]

    def run(self):
        lab, chance = self.lab, self.lab.chance
        lab.reset(self.is_damaged)
        offset = chance.random() * 0.012
        sides, started = [], []
        for number, verb in enumerate(self.verbs):
            if number == 1:
                time.sleep(offset)
            started.append(time.monotonic())
            sides.append(subprocess.Popen(lab.calpe.arguments(*lab.arguments(verb, "ab"[number])),
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        if self.killed is not None:
            moment = chance.random() * lab.seconds[self.verbs[self.killed]]
            time.sleep(max(0, started[self.killed] + moment - time.monotonic()))
            sides[self.killed].kill()
        for number, side in enumerate(sides):
            self.errors[number] = side.communicate(timeout=SECONDS_MAX)[1].decode(errors="replace")
            self.codes[number] = side.returncode

    def was_killed(self, number):
        return self.codes[number] == -9

    def check_codes(self):
        for number, verb in enumerate(self.verbs):
            code, errors = self.codes[number], self.errors[number]
            allowed = {GOOD, IO}
            if self.is_damaged or self.was_killed(1 - number):
                allowed.add(DAMAGED)
            if verb == "add-parity" and self.verbs[1 - number] == "add-parity":
                allowed.add(USAGE)  # the set already has the parity
            if number == self.killed:
                allowed.add(-9)
            expect(code in allowed, f"{verb}: exit {code}: {errors}")
            expect(code != IO or REFUSED in errors, f"{verb}: exit {code}: {errors}")
            if verb == "restore" and code == GOOD:
                self.lab.restored("ab"[number])

    def check_set(self):
        lab = self.lab
        verified = lab.calpe.run("verify", *lab.targets)
        is_killed = self.was_killed(0) or self.was_killed(1)
        if verified.returncode != GOOD:
            expect(self.is_damaged or is_killed,
                   f"the set is damaged: {verified.text}{verified.errors}")
            expect(verified.returncode != LOST, f"the set is LOST: {verified.text}")
            lab.calpe.must(GOOD, "repair", *lab.targets)
            lab.calpe.must(GOOD, "verify", *lab.targets)
        elif not is_killed:
            left = [path.name for path in read_files(*lab.targets)
                    if path.name.startswith(".") and path.suffix != ".undo"]
            expect(not left, f"left: {left}")
        lab.calpe.must(GOOD, *lab.arguments("restore", "c"))
        tree = lab.restored("c")
        makers = [number for number, verb in enumerate(self.verbs) if verb in ("protect", "update")]
        if any(self.codes[number] == GOOD for number in makers):
            expect(tree == "new", "a successful command had no effect")
        if not makers:
            expect(tree == "old", "the tree changed")

    def describe(self):
        return (f"{self.verbs[0]} with {self.verbs[1]}, damaged {self.is_damaged}, killed "
                f"{self.killed}, exits {self.codes}: {self.errors}")


def work(calpe, folder, chance):
    lab = Lab(calpe, folder, chance)
    held = check_held_locks(lab)
    check_part_of_a_set(lab)
    check_links_to_the_same_file(lab)
    pairs = [(a, b) for a in VERBS for b in VERBS]
    counts = collections.Counter()
    for number in range(ROUNDS):
        one = Round(lab, pairs[number % len(pairs)])
        one.run()
        try:
            one.check_codes()
            one.check_set()
        except Failure as failure:
            raise Failure(f"round {number}: {one.describe()}: {failure}") from failure
        counts["killed"] += one.was_killed(0) or one.was_killed(1)
        counts["refused"] += IO in one.codes
        counts["both"] += one.codes == [GOOD, GOOD]
    expect(all(counts[kind] > 0 for kind in ("refused", "both", "killed")),
           f"no round overlapped: {dict(counts)}")
    return (f"{held} commands with a lock held, {ROUNDS} rounds of {len(pairs)} pairs: "
            f"{counts['refused']} with one refused, {counts['both']} where both ran through, "
            f"{counts['killed']} with a kill; lost 0, damaged 0")


def main():
    calpe = program_from_arguments()
    return run_with_seed(
        "overlap", lambda folder, chance: work(calpe, folder, chance), fixed_seed=1)


if __name__ == "__main__":
    sys.exit(main())
