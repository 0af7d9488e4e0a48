#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a fuzz target from fresh seeds: run_fuzz.py PROGRAM KIND RUNS [MAX_LEN]; KIND as in SEEDS

Seeds are made by the second writer of tests/format, so that they are good files by docs/format.md
and not by the code that is fuzzed. CALPE_NIGHTLY=1 runs ten times as many, other ones every night.
An input that fails is kept in the working folder and printed, to be committed as a test of its own.
"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import shard_format as fmt  # noqa: E402, pylint: disable=wrong-import-position
import writer  # noqa: E402, pylint: disable=wrong-import-position

SEEDS_MIN = 5


def header_seeds():
    manifest = fmt.manifest_to_bytes([])
    shapes = [("hybrid", 4, 2, 0), ("cauchy", 1, 1, 0), ("lch", 20, 5, 0), ("lrc", 6, 4, 2),
              ("vandermonde", 100, 4, 0), ("raid6", 3, 2, 0)]
    for family, k, m, groups in shapes:
        header = writer.make_header(bytes(100000), manifest, {
            "k": k, "m": m, "family": family, "local_groups": groups, "block_bytes": 4096,
            "name": b"photos", "uuid": bytes(range(16))})
        yield b"\0" + fmt.header_to_bytes(header)[:480]
        raw = bytearray(fmt.header_to_bytes(header)[:112])  # shorter: more chances for its fields
        raw[48:56] = (40 << 16 | 1).to_bytes(8, "little")  # header_fuzz.cpp: 1 << 40 stripes
        yield b"\4" + bytes(raw)
        yield b"\1" + fmt.header_to_bytes(header)
    raw = bytearray(fmt.header_to_bytes(header)[:480])
    raw[42] = 1  # originals: a kind that the second writer does not make
    yield b"\0" + bytes(raw)


def manifest_seeds():
    def file(path, *extents, size=1000):
        return fmt.Entry(fmt.FILE, path, mode=0o644, file_bytes=size, extents=list(extents))
    folder, link = fmt.Entry(fmt.FOLDER, b"d"), fmt.Entry(fmt.LINK, b"l", b"target")
    lists = [
        [], [file(b"f")], [file(b"f", (0, 0, 10), (20, 10, 5))], [folder, file(b"d/f", (0, 0, 9))],
        [fmt.Entry(fmt.FOLDER, b""), folder, link, fmt.Entry(fmt.LINK, b"d/l", b"../..")],
        [fmt.Entry(fmt.STREAM, b"", file_bytes=5, extents=[(0, 0, 5)])],
        [file(b"a", (0, 10, 10)), file(b"b", (0, 0, 10)), folder, fmt.Entry(fmt.FOLDER, b"d/e")],
    ]
    for entries in lists:
        yield b"\0\xe8\x03" + fmt.manifest_to_bytes(entries)[:-8]
        yield b"\1\xe8\x03" + fmt.manifest_to_bytes(entries)


def journal_seeds():
    """As journal_fuzz.cpp puts them together: flags, units of 64 bytes of data, header, table."""
    def journal(shape, flags=0, uuid=b"\1" + bytes(15), before=1, index=0):
        file_bytes, sizes = shape
        writes, place = [], fmt.HEADER_BYTES
        for offset, size in sizes:
            writes.append(struct.pack("<QQQQ", offset, size, place, 0))
            place += size
        data_bytes = place - fmt.HEADER_BYTES
        header = b"calpe-j1" + struct.pack("<II", 1, len(writes)) + uuid
        header += struct.pack("<QQH6xQQQ", before, before + 4, index, file_bytes, data_bytes, 0)
        return bytes([flags, data_bytes // 64]) + header.ljust(96, b"\0") + b"".join(writes)
    ends = [(0, 4096), (8192, 4096)]
    yield journal((12288, ends))
    yield journal((12288, ends), flags=1)
    yield journal((12288, [(0, 4096), (4096, 64), (8192, 4096)]))
    yield journal((12288, [(0, 4096), (4096, 4096), (8192, 4096)]), before=7, index=2)
    yield journal((8192, [(0, 4096), (4096, 4096)]), uuid=bytes(16))


def set_seeds():
    chance = random.Random(1)
    return [chance.randbytes(6 * n) for n in range(1, 8)]


SEEDS = {"header": header_seeds, "manifest": manifest_seeds,
         "journal": journal_seeds, "set": set_seeds}


def main():
    program, kind, runs, max_len = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    is_nightly = os.environ.get("CALPE_NIGHTLY", "0") not in ("", "0")
    runs *= 10 if is_nightly else 1
    seed = time.time_ns() % 10**9 if is_nightly else 1
    with tempfile.TemporaryDirectory() as corpus:
        seeds = list(SEEDS[kind]())
        for i, raw in enumerate(seeds):
            pathlib.Path(corpus, f"seed{i}").write_bytes(raw)
        done = subprocess.run(
            [program, f"-runs={runs}", "-rss_limit_mb=512", f"-max_len={max_len}", "-timeout=10",
             "-print_final_stats=1", "-artifact_prefix=fuzz_failure_", f"-seed={seed}", corpus],
            capture_output=True, text=True, errors="replace", check=False)
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    peak = re.search(r"stat::peak_rss_mb:\s*(\d+)", done.stderr)
    coverage = re.findall(r"cov: (\d+)", done.stderr)
    if done.returncode != 0 or not executed or int(executed[1]) < runs or len(seeds) < SEEDS_MIN:
        print(done.stdout + done.stderr)
        print(f"fuzz {kind}: failed with status {done.returncode}")
        return 1
    # A target that reaches nothing beyond its seeds would also run without a failure.
    grown = int(coverage[-1]) - int(coverage[0])
    print(f"fuzz {kind}: {executed[1]} runs, {peak[1]} MB at most, coverage {coverage[0]} -> "
          f"{coverage[-1]}")
    return 0 if grown > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
