#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shards that change while `restore --key-file` writes: forged bytes never come out with exit 0.

usage: tamper.py CALPE
The output is a pipe. After its first byte, the check is complete and the command waits until the
pipe is read. Then blocks are forged, with matching checksums.
"""
import subprocess
import sys

import hostile
from command import GOOD, LOST, expect, is_nightly

BLOCK, K, M = 4096, 4, 2
STRIPES = 1500  # three groups, about 24 MB: far more than a pipe and a command buffer


def restore(calpe, folders, tamper, *options):
    with subprocess.Popen(calpe.arguments("restore", *folders, "-o", "-", *options),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as child:
        first = child.stdout.read(1)  # unbuffered, so the rest stays in the pipe
        tamper()
        rest, errors = child.communicate(timeout=300)
    return child.returncode, first + rest, errors.decode(errors="replace")


def cases(chance, count):
    """(number of shards, stripes): at the end, random runs, all of a group, all stripes."""
    yield K + M, [STRIPES - 1]
    yield M + 1, range(STRIPES - 300, STRIPES)
    yield K + M, range(1024, 1024 + 64)
    yield 1, range(STRIPES)
    yield M, range(STRIPES)
    for _ in range(count):
        begin = chance.randrange(STRIPES)
        end = min(STRIPES, begin + chance.choice((1, 7, 100)))
        yield chance.randrange(1, K + M + 1), range(begin, end)


def work(calpe, folder, chance):
    key = hostile.write_key(folder / "key")
    source = folder / "film"
    source.write_bytes(hostile.random_bytes(STRIPES * K * BLOCK - 1000, 7))
    disks = [folder / f"disk{i}" for i in range(K + M)]
    targets = [word for disk in disks for word in ("-o", disk)]
    made = calpe.must(GOOD, "protect", source, "--data", K, "--parity", M, "--block-bytes", BLOCK,
                      "--key-file", key, *targets).text
    root = made.split("Root ")[1].split()[0] if "Root " in made else None
    paths = [next(disk.iterdir()) for disk in disks]
    whole = [path.read_bytes() for path in paths]
    refused = rebuilt = 0
    runs = list(cases(chance, 100 if is_nightly() else 12))
    for number, (shards, stripes) in enumerate(runs):
        chosen = chance.sample(range(K + M), shards)

        def tamper(chosen=chosen, stripes=stripes):
            for shard in chosen:
                for stripe in stripes:
                    hostile.forge_block(paths[shard], stripe)

        options = ["--key-file", key]
        if root and number % 3 == 2:
            options = ["--expect-root", root]
        code, out, errors = restore(calpe, disks, tamper, *options)
        what = f"{shards} shards, stripes {stripes}: exit {code}, {len(out)} bytes: {errors[:300]}"
        expect(code in (GOOD, LOST), what)
        if code == GOOD:
            expect(out == source.read_bytes(), f"forged bytes and exit 0: {what}")
            rebuilt += 1
        else:
            expect(shards > M, f"enough shards were unchanged: {what}")
            expect(source.read_bytes().startswith(out), f"forged bytes came out: {what}")
            refused += 1
        for path, raw in zip(paths, whole):
            path.write_bytes(raw)
    expect(refused >= 2 and rebuilt >= 2, f"{refused} refused, {rebuilt} restored of {len(runs)}")
    return f"{len(runs)} restores with concurrent changes: {rebuilt} correct, {refused} refused"


if __name__ == "__main__":
    sys.exit(hostile.main_with_seed("use_security_tamper", work))
