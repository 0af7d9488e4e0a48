#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file larger than the memory limit: big.py CALPE

Protects, damages, repairs and restores 256 MiB, or 4 GiB with CALPE_NIGHTLY=1, and checks that the
peak memory of every command stays below 256 MB.
"""
import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile

import command
from command import expect

PIECE_BYTES = 1 << 20  # small: a child inherits the peak of its parent
MEMORY_BYTES_MAX = 256_000_000


def peak_memory(calpe, *arguments):
    child = subprocess.Popen([calpe, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    expect(child.returncode == 0, f"{arguments[0]} exit code {child.returncode}")
    peak = used.ru_maxrss * 1024
    expect(peak < MEMORY_BYTES_MAX, f"{arguments[0]} took {peak} bytes of memory")
    return f"{arguments[0]} {peak // 1_000_000} MB"


def write_source(path, size):
    """Makes all pieces different: each starts with its number."""
    piece = os.urandom(PIECE_BYTES - 8)
    with open(path, "wb") as file:
        for number in range(size // PIECE_BYTES):
            file.write(number.to_bytes(8, "little") + piece)


def check(calpe, folder, size):
    source, target, back = folder / "source", folder / "shards", folder / "back"
    write_source(source, size)
    peaks = [peak_memory(calpe, "protect", source, "-o", target)]
    shards = sorted(target.iterdir())
    shards[0].unlink()
    shards[12].unlink()
    for number, path in enumerate(shards[1:4]):  # in different stripes
        with open(path, "r+b") as file:
            file.seek((number + 3) * 1_000_000)
            file.write(b"damaged")
    peaks.append(peak_memory(calpe, "restore", target, "-o", back))
    expect(filecmp.cmp(source, back, shallow=False), "the restored file differs")
    back.unlink()
    peaks.append(peak_memory(calpe, "repair", target))
    peaks.append(peak_memory(calpe, "verify", target))
    return peaks


def main():
    calpe = sys.argv[1]
    size = 4 << 30 if command.is_nightly() else 256 << 20
    with tempfile.TemporaryDirectory() as name:
        try:
            peaks = check(calpe, pathlib.Path(name), size)
        except command.Failure as failure:
            print(f"big: {failure}")
            return 1
    print(f"big: {size >> 20} MiB, peak memory: {', '.join(peaks)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
