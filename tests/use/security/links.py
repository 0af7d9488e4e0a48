#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While root repairs or updates a set, the owner of its directory replaces a shard by a link to a
file of another user, at random moments. The file must not change.

Without root, one user plays both parts, and links that belong to another user are not tested.
"""
import os
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "files"))
from command import (GOOD, expect, is_nightly, program_from_arguments, read_files,
                     run_with_seed)

ROUNDS = 2_000 if is_nightly() else 200
OTHER = 65534  # an unprivileged user
FILE_BYTES = 4 << 20


def as_other(action):
    """Runs action() in a child process, as another user if we are root. Returns its id."""
    child = os.fork()
    if child != 0:
        return child
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
        action()
        os._exit(0)
    finally:
        os._exit(1)


def wait_for(child):
    expect(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the other user failed")


class Lab:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.chance = calpe, chance
        self.place = folder / "users"
        self.sources = {}
        for name in ("old", "new"):
            self.sources[name] = folder / name / "data"
            self.sources[name].parent.mkdir()
            self.sources[name].write_bytes(chance.randbytes(FILE_BYTES))
        calpe.must(GOOD, "protect", self.sources["old"], "--data", 2, "--parity", 2,
                   "-o", self.place)
        self.template = read_files(self.place)
        self.victim = folder / "private" / "victim"
        self.victim.parent.mkdir(mode=0o700)
        self.victim_bytes = chance.randbytes(FILE_BYTES)
        self.write_victim(self.victim_bytes)
        os.chmod(folder, 0o755)

    def write_victim(self, content):
        self.victim.write_bytes(content)
        os.chmod(self.victim, 0o600)

    def reset(self, is_damaged):
        shutil.rmtree(self.place)
        self.place.mkdir()
        for path, content in self.template.items():
            path.write_bytes(content)
        if is_damaged:
            with open(sorted(self.template)[0], "r+b") as shard:
                shard.seek(FILE_BYTES // 4)
                shard.write(self.chance.randbytes(65536))
        if os.geteuid() == 0:
            for path in (self.place, *self.template):
                os.chown(path, OTHER, OTHER)

    def swap(self, path, seconds):
        time.sleep(seconds)
        os.rename(path, self.place / "away")
        os.symlink(self.victim, path)

    def arguments(self, verb):
        return (verb, self.place) if verb == "repair" else (verb, self.sources["new"], self.place)


def duration_of(lab, verb):
    lab.reset(is_damaged=verb == "repair")
    start = time.monotonic()
    lab.calpe.must(GOOD, *lab.arguments(verb))
    return time.monotonic() - start


def check_swaps(lab):
    durations = {verb: duration_of(lab, verb) for verb in ("repair", "update")}
    ended_well = 0
    for number in range(ROUNDS):
        verb = ("repair", "update")[number % 2]
        lab.reset(is_damaged=verb == "repair")
        path = sorted(lab.template)[0 if verb == "repair" else lab.chance.randrange(4)]
        seconds = lab.chance.random() * durations[verb]
        child = as_other(lambda path=path, seconds=seconds: lab.swap(path, seconds))
        done = lab.calpe.run(*lab.arguments(verb))
        wait_for(child)
        expect(lab.victim.read_bytes() == lab.victim_bytes,
               f"round {number}: {verb} wrote through the link, exit {done.returncode}")
        expect(done.returncode == GOOD or done.errors, f"round {number}: {verb} failed silently")
        ended_well += done.returncode == GOOD
    return ended_well


def check_links_that_stay(lab):
    """Links of another user to files of root are not followed, those to their own files are."""
    shard = sorted(lab.template)[0]
    damaged = bytearray(lab.template[shard])
    damaged[FILE_BYTES // 4:FILE_BYTES // 4 + 4096] = bytes(4096)
    for verb in ("repair", "update"):
        if os.geteuid() != 0:
            break
        lab.reset(is_damaged=False)
        shard.unlink()
        lab.write_victim(damaged)
        wait_for(as_other(lambda: os.symlink(lab.victim, shard)))
        done = lab.calpe.run(*lab.arguments(verb))
        expect(lab.victim.read_bytes() == damaged, f"{verb} changed the target of the link")
        expect(done.returncode != GOOD and done.errors, f"{verb}: exit {done.returncode}")
    lab.write_victim(lab.victim_bytes)
    lab.reset(is_damaged=False)
    os.rename(shard, lab.place.parent / "moved.calpe")
    wait_for(as_other(lambda: os.symlink("../moved.calpe", shard)))
    lab.calpe.must(GOOD, "verify", lab.place)
    lab.calpe.must(GOOD, *lab.arguments("update"))
    lab.calpe.must(GOOD, "verify", lab.place)
    expect(shard.is_symlink(), "update replaced the link")


def work(calpe, folder, chance):
    lab = Lab(calpe, folder, chance)
    check_links_that_stay(lab)
    ended_well = check_swaps(lab)
    return (f"{ROUNDS} swaps during repair and update, {ended_well} commands succeeded; "
            "the other file is unchanged")


def main():
    calpe = program_from_arguments()
    return run_with_seed("links", lambda folder, chance: work(calpe, folder, chance), fixed_seed=1)


if __name__ == "__main__":
    sys.exit(main())
