#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ext4 on an array: 10,000 files, m random members deleted, fsck clean, all checksums equal.

Usage: file_system_test.py CALPE PLUGIN
It uses nbdfuse and a loop device with direct I/O, so that ext4 flushes and trims the array. Exit
code 77 if loop devices or FUSE are not allowed.
"""
import hashlib
import pathlib
import random
import subprocess
import sys

import lab
from lab import MIB, claim, run, say

FILES = 10_000
FILES_IN_FOLDER = 250


def fill(place, chance):
    """Writes small files of realistic sizes, and returns their digests."""
    digests = {}
    for number in range(FILES):
        folder = place / f"d{number // FILES_IN_FOLDER:03}"
        folder.mkdir(exist_ok=True)
        name = folder / f"f{number:05}"
        content = chance.randbytes(min(int(chance.expovariate(1 / 3000)), 100_000))
        name.write_bytes(content)
        digests[name.relative_to(place)] = hashlib.sha256(content).digest()
    return digests


def check(place, digests):
    for name, digest in digests.items():
        claim(hashlib.sha256((place / name).read_bytes()).digest() == digest,
              f"{name} has other bytes")


def with_mount(trial, work):
    place = trial.folder / "mnt"
    place.mkdir(exist_ok=True)
    with trial.fuse() as file, lab.loop_device(file) as device:
        run("e2fsck", "-fp", device)
        done = subprocess.run(["mount", "-t", "ext4", device, place], capture_output=True,
                              text=True)
        if done.returncode != 0:
            lab.skip(f"mount: {done.stderr.strip()}")
        try:
            return work(pathlib.Path(place))
        finally:
            run("umount", place)


def main():
    lab.use_debians_python()
    lab.need("nbdfuse", "losetup", "mkfs.ext4", "e2fsck")
    seed = random.randrange(1 << 32)
    say(f"seed {seed}")
    chance = random.Random(seed)
    with lab.Lab(member=40 * MIB) as trial:
        trial.start()
        with trial.fuse() as file:
            run("mkfs.ext4", "-q", "-F", "-N", FILES + 2000, file)
        digests = with_mount(trial, lambda place: fill(place, chance))
        say(f"{len(digests)} files written")
        trial.stop()
        lost = chance.sample(trial.members, trial.parity)
        for member in lost:
            member.unlink()
        trial.start()
        with trial.fuse() as file:
            run("e2fsck", "-fn", file)
        with_mount(trial, lambda place: check(place, digests))
        say(f"without {', '.join(member.name for member in lost)}: fsck clean, all digests equal")
        trial.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
