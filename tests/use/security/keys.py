#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Key files: refused if other users can read them, read once if they are pipes.

usage: keys.py CALPE
"""
import os
import subprocess
import sys

import hostile
from command import GOOD, IO, USAGE, expect


def verbs(folder, disks, key):
    """Every command that takes a key, in an order that works."""
    source = folder / "film"
    return [("verify", *disks, "--key-file", key), ("repair", *disks, "--key-file", key),
            ("restore", *disks, "--key-file", key, "-o", folder / "out", "--overwrite"),
            ("update", source, *disks, "--key-file", key)]


def change(folder, number):
    source = folder / "film"
    source.write_bytes(hostile.random_bytes(50000 + number, number))


def through_pipe(calpe, arguments, key_bytes):
    """Passes the key through a pipe, like <(cat key) in a shell."""
    ours, theirs = os.pipe()
    os.write(theirs, key_bytes)
    os.close(theirs)
    words = [f"/dev/fd/{ours}" if word == "PIPE" else word for word in calpe.arguments(*arguments)]
    done = subprocess.run(words, capture_output=True, pass_fds=(ours,), timeout=60, check=False)
    os.close(ours)
    return done


def work(calpe, folder, _):
    key = hostile.write_key(folder / "key")
    change(folder, 0)
    disks = [folder / "a", folder / "b"]
    protect = ("protect", folder / "film", "--data", 3, "--parity", 2, "-o", disks[0], "-o",
               disks[1], "--key-file")
    refused = 0
    for mode in (0o640, 0o604, 0o644, 0o620, 0o602, 0o777, 0o660):
        key.chmod(mode)
        done = calpe.must(USAGE, *protect, key)
        expect(f"has mode {mode:04o}" in done.errors and f"chmod 600 {key}" in done.errors,
               done.errors)
        refused += 1
    expect(not any(disk.exists() for disk in disks), "a refused key was used")
    key.chmod(0o400)
    calpe.must(GOOD, *protect, key)
    key.chmod(0o644)
    for arguments in verbs(folder, disks, key):
        done = calpe.must(USAGE, *arguments)
        expect("chmod 600" in done.errors, f"{arguments}: {done.errors}")
        refused += 1
    key.chmod(0o600)
    change(folder, 1)
    for arguments in verbs(folder, disks, key):
        calpe.must(GOOD, *arguments)
    change(folder, 2)
    for arguments in verbs(folder, disks, "PIPE"):
        done = through_pipe(calpe, arguments, hostile.KEY)
        expect(done.returncode == GOOD, f"{arguments} with a pipe: exit {done.returncode}: "
               f"{done.stderr.decode()}")
    done = through_pipe(calpe, ("verify", *disks, "--key-file", "PIPE"), b"another key" * 3)
    expect(done.returncode == 2, f"another key through a pipe: exit {done.returncode}")
    for length in (0, 15, 4097):
        done = through_pipe(calpe, ("verify", *disks, "--key-file", "PIPE"), b"x" * length)
        expect(done.returncode == USAGE, f"{length} bytes through a pipe: exit {done.returncode}")
    calpe.must(IO, "verify", *disks, "--key-file", folder / "none")
    calpe.must(IO, "verify", *disks, "--key-file", folder)
    return f"{refused} key files refused because of their mode, 4 commands with a key from a pipe"


if __name__ == "__main__":
    sys.exit(hostile.main_with_seed("use_security_keys", work))
