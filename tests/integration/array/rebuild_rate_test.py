#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rebuild speed of a member, relative to the read speed of its k sources.

Usage: rebuild_rate_test.py CALPE PLUGIN
Members have 48 MiB of random bytes, 1 GiB with CALPE_NIGHTLY=1. The read speed is that of k members
read at the same time with direct I/O, as the rebuild reads them; they may be on one disk. The cache
is dropped before both. The array is not in use otherwise.
"""
import os
import subprocess
import sys
import time

import lab
from lab import MIB, claim, say

lab.need("fio", "nbdkit")
MEMBER = 1024 * MIB if lab.NIGHTLY else 48 * MIB


def forget(paths):
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_together(paths):
    """Bytes per second of all readers together."""
    begun = time.monotonic()
    readers = [subprocess.Popen(["dd", f"if={path}", "of=/dev/null", "bs=1M", "iflag=direct",
                                 "status=none"]) for path in paths]
    claim(all(reader.wait() == 0 for reader in readers), "dd failed")
    return sum(map(os.path.getsize, paths)) / (time.monotonic() - begun)


def main():
    with lab.Lab(spares=1, member=MEMBER) as trial:
        trial.start("take-spares=no")
        lab.fio(trial.uri, "--rw=write", "--bs=1M", "--iodepth=16", "--end_fsync=1",
                "--refill_buffers", f"--size={trial.status()['bytes']}")
        trial.array("fail", "--member", 2, "--control", trial.control)
        sources = [path for i, path in enumerate(trial.members) if i != 2]
        forget(sources)
        bandwidth = read_together(sources[:trial.data])
        forget(sources)
        begun = time.monotonic()
        trial.array("replace", "--member", 2, "--with", trial.spare_files[0], "--control",
                    trial.control)
        trial.array("rebuild", "--control", trial.control)
        seconds = time.monotonic() - begun
        claim(trial.status()["state"] == "healthy", "not healthy after the rebuild")
        read = trial.status()["bytes"] / seconds  # k chunks for each rebuilt one
        say(f"{MEMBER / MIB:.0f} MiB rebuilt in {seconds:.2f} s, reading {read / 1e6:.0f} MB/s: "
            f"{read / bandwidth:.2f} of what {trial.data} members give together "
            f"({bandwidth / 1e6:.0f} MB/s)")
        trial.stop()


if __name__ == "__main__":
    sys.exit(main())
