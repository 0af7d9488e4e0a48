#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crafted files of at most 64 KiB on disk: every command that reads them needs at most 256 MB and
5 s of CPU time, whatever the files claim.

usage: budget.py CALPE
Measures the CPU time and the peak resident memory of the child process, so other work on the
machine does not matter.
"""
import dataclasses
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import uuid

import hostile
import reader
import shard_format as fmt
import writer
from command import GOOD, expect, is_nightly

MEMORY_MAX, CPU_MAX, DISK_MAX = 256_000_000, 5.0, 65536
FILES = 1000 if is_nightly() else 200
FAMILIES = {name: number for number, name in fmt.FAMILIES.items()}
SIZES = (1 << 26, 1 << 30, 1 << 34, 1 << 40, 1 << 43)


def make_header(chance, k, m, block, stripes, manifest, kind=fmt.SHARDS, family="cauchy"):
    rows = reader.parity_rows(FAMILIES[family], k, m, 0x11D, 0)
    content = stripes * k * block
    manifest = min(manifest, content)
    made = fmt.Header(chance.randbytes(16), 1, 0, block, stripes, content, content - manifest,
                      manifest, FAMILIES[family], k, m, 0x11D, 0, reader.matrix_hash(0x11D, rows),
                      b"bomb", kind=kind)
    if kind == fmt.ORIGINALS:
        made = dataclasses.replace(made, manifest_offset=made.body_end(),
                                   manifest_bytes=max(20, manifest))
    return made


def write_sparse(path, header, pieces=(), ends=2):
    """`pieces`: (offset, bytes) that are not holes."""
    raw = fmt.header_to_bytes(header)
    with open(path, "wb") as file:
        file.write(raw)
        file.truncate(header.file_bytes())
        for offset, piece in pieces:
            file.seek(offset)
            file.write(piece)
        if ends == 2:
            file.seek(header.file_bytes() - len(raw))
            file.write(raw)


def zeros_page(header, group):
    """Returns the checksums of a group of holes, which makes them good blocks."""
    zeros = fmt.xxh3_64(bytes(header.block_bytes))
    first = group * fmt.GROUP_STRIPES
    page = b""
    for stripe in range(first, first + header.stripes_in_group(group)):
        mask = header.uuid + struct.pack("<QQQ", header.generation, stripe, header.index)
        page += (zeros ^ fmt.xxh3_64(mask)).to_bytes(8, "little")
    return (header.checksum_offset(first), page)


def stripes_for(chance, block, pages=1):
    """Returns the number of stripes for a file of one of SIZES."""
    group = fmt.GROUP_STRIPES * block + pages * fmt.PAGE_BYTES
    return max(1, chance.choice(SIZES) // group * fmt.GROUP_STRIPES - chance.choice((0, 1, 447)))


def large_manifest(chance, folder):
    """A file list that claims gigabytes, in one shard or in enough of them."""
    k = chance.choice((1, 2, 3, 128, 255))
    block = min(chance.choice((64, 65536, 262144, 1 << 24)), (1 << 26) // (k + 1) // 64 * 64)
    stripes = max(1, (1 << 32) // (k * block))
    header = make_header(chance, k, 1, block, stripes, 1 << 32)
    for index in range(min(k + 1, chance.choice((1, 2, 4)))):
        write_sparse(folder / f"{index}.calpe", dataclasses.replace(header, index=index))


def many_stripes(chance, folder):
    """A sparse file of many small blocks without checksums."""
    k, m = chance.choice(((1, 1), (2, 1), (2, 2), (1, 3), (8, 4)))
    block = chance.choice((64, 128, 4096, 65536))
    header = make_header(chance, k, m, block, stripes_for(chance, block), 100)
    for index in range(chance.randrange(1, min(k + m, 4) + 1)):
        write_sparse(folder / f"{index}.calpe", dataclasses.replace(header, index=index),
                     ends=chance.choice((1, 2)))


def scattered(chance, folder):
    """The same, with random bytes in some checksums and blocks."""
    block = chance.choice((64, 4096, 65536))
    header = make_header(chance, 1, 1, block, stripes_for(chance, block), 100)
    for index in range(2):
        own = dataclasses.replace(header, index=index)
        pieces = []
        for _ in range(chance.randrange(1, 5)):
            stripe = chance.randrange(own.stripes)
            place = chance.choice((own.block_offset, own.checksum_offset))
            pieces.append((place(stripe), chance.randbytes(8)))
        write_sparse(folder / f"{index}.calpe", own, pieces)


def good_zeros(chance, folder):
    """Holes with matching checksums, and a file list of zeros."""
    block = chance.choice((4096, 65536))
    header = make_header(chance, 1, 1, block, fmt.GROUP_STRIPES * 2,
                         chance.choice((4096, 1 << 20, 1 << 32)))
    for index in range(2):
        own = dataclasses.replace(header, index=index)
        write_sparse(folder / f"{index}.calpe", own, [zeros_page(own, g) for g in (0, 1)])


def parity_of_much(chance, folder):
    """Parity files of originals with a large file list or many stripes."""
    k = chance.choice((1, 4, 200))
    block = chance.choice((64, 4096, 65536))
    header = make_header(chance, k, 2, block, stripes_for(chance, block, k + 2),
                         chance.choice((100, 1 << 30, 1 << 32)), kind=fmt.ORIGINALS)
    if chance.random() < 0.5:  # a valid list with one file that has all of the content
        listed = fmt.manifest_to_bytes([fmt.Entry(
            fmt.FILE, b"film", mode=0o644, file_bytes=header.content_bytes,
            extents=[(0, 0, header.content_bytes)])])
        header = dataclasses.replace(header, manifest_bytes=len(listed))
    else:
        listed = b""
    for index in range(chance.randrange(1, 3)):
        own = dataclasses.replace(header, index=k + index)
        write_sparse(folder / f"{index}.calpe", own, [(own.manifest_offset, listed)])


def small_set(folder, **options):
    source = folder.parent / "small"
    source.write_bytes(hostile.random_bytes(options.pop("size", 5000), 5))
    return writer.write(source, [folder], k=options.pop("k", 2), m=1, block_bytes=1024,
                        **options)


def changed_headers(chance, folder):
    """A small set with some header fields changed, mostly consistently."""
    fields = [(32, 8), (40, 2), (42, 1), (43, 1), (44, 4), (48, 8), (56, 8), (64, 8), (72, 8),
              (80, 1), (82, 2), (84, 2), (88, 4), (96, 2), (104, 8), (208, 2)]
    values = [0, 1, 2, 3, 64, 128, 255, 256, 4096, 65535, 1 << 20, 1 << 24, 1 << 32, 1 << 40,
              1 << 50, 1 << 61, (1 << 64) - 1]
    chosen = [(*chance.choice(fields), chance.choice(values)) for _ in range(3)]
    for path in small_set(folder)[:chance.choice((1, 2, 3))]:
        raw = bytearray(path.read_bytes())
        for offset, size, value in chosen:
            raw[offset:offset + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
        if chance.random() < 0.7:
            number = {at: int.from_bytes(raw[at:at + size], "little") for at, size in fields}
            content = min(number[48] * number[82] * number[44], (1 << 64) - 1)
            raw[56:64] = content.to_bytes(8, "little")
            raw[64:72] = ((content - number[72]) % (1 << 64)).to_bytes(8, "little")
        raw[4088:4096] = fmt.xxh3_64(bytes(raw[:4088])).to_bytes(8, "little")
        raw[-4096:] = raw[:4096]
        path.write_bytes(raw)


def large_journals(chance, folder):
    """A small set with journals that enlarge it."""
    for path in small_set(folder, k=1, size=500):
        own = fmt.parse_header(path.read_bytes()[:fmt.HEADER_BYTES])
        block = own.block_bytes
        stripes = max(own.stripes, chance.choice((1 << 20, 1 << 30)))
        after = dataclasses.replace(
            own, generation=own.generation + 1, stripes=stripes, content_bytes=stripes * block,
            manifest_offset=stripes * block - own.manifest_bytes)
        header = fmt.header_to_bytes(after)
        writes = [(0, header), (after.file_bytes() - 4096, header)]
        table, data, at = b"", b"", 4096
        for offset, piece in writes:
            table += b"".join(n.to_bytes(8, "little")
                              for n in (offset, len(piece), at, fmt.xxh3_64(piece)))
            data += piece
            at += len(piece)
        head = bytearray(4096)
        head[:8] = b"calpe-j1"
        for offset, size, value in ((8, 4, 1), (12, 4, len(writes)), (32, 8, own.generation),
                                    (40, 8, after.generation), (48, 2, own.index),
                                    (56, 8, after.file_bytes()), (64, 8, len(data)),
                                    (72, 8, fmt.xxh3_64(table))):
            head[offset:offset + size] = value.to_bytes(size, "little")
        head[16:32] = own.uuid
        head[4088:] = fmt.xxh3_64(bytes(head[:4088])).to_bytes(8, "little")
        name = f".calpe-{uuid.UUID(bytes=own.uuid)}-s{own.index:03d}-{after.generation:016x}.redo"
        journal = folder / name
        journal.write_bytes(bytes(head) + data + table)


def large_code(chance, folder):
    """The maximum number of shards, with different codes."""
    k = chance.choice((100, 128, 200, 255))
    family = chance.choice(("cauchy", "lch", "vandermonde-isal", "hybrid"))
    m = 4 if family == "hybrid" and k < 250 else min(256 - k, chance.choice((1, 4, 56)))
    try:
        header = make_header(chance, k, m, 64, 4, 100, family=family)
    except Exception:  # pylint: disable=broad-except
        header = make_header(chance, k, 256 - k, 64, 4, 100)  # the code has no such shape
    for index in range(chance.randrange(1, 5)):
        write_sparse(folder / f"{index}.calpe", dataclasses.replace(header, index=index))


MAKERS = [large_manifest, many_stripes, scattered, good_zeros, parity_of_much, changed_headers,
          large_journals, large_code]


def always(folder, out):
    return [("info", folder, "--files"), ("verify", folder), ("restore", folder, "-o", out / "r")]


def in_turn(folder, out):
    tree = out / "tree"
    return [("verify", folder, "--deep"), ("identify", folder), ("repair", folder),
            ("restore", folder, "-o", "-"), ("update", tree, folder, "--replace-all"),
            ("add-parity", folder, "--parity", 3, "-o", out / "p"),
            ("repair", folder, "-o", out / "q"), ("verify", folder, "--io", "threads"),
            ("restore", folder, "-o", out / "s", "--root-check")]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


class Measured:
    def __init__(self, calpe, is_sanitized):
        self.calpe, self.is_sanitized = calpe, is_sanitized
        self.runs, self.cpu, self.memory = 0, 0.0, 0

    def run(self, what, arguments):
        with subprocess.Popen(self.calpe.arguments(*arguments), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, restore_signals=False,
                              preexec_fn=None if self.is_sanitized else limit) as child:
            errors = child.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.runs += 1
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        self.cpu, self.memory = max(self.cpu, cpu), max(self.memory, memory)
        said = f"{what}: calpe {' '.join(map(str, arguments))}: exit {child.returncode}, " \
               f"{cpu:.1f} s, {memory >> 20} MiB: {errors[-300:]}"
        expect(0 <= child.returncode <= 4, said)
        if self.is_sanitized:
            return
        expect("memory" not in errors, said)
        expect(memory <= MEMORY_MAX and cpu <= CPU_MAX, said)


def work(calpe, folder, chance):
    is_sanitized = b"__asan_init" in pathlib.Path(calpe.program).read_bytes()
    measured = Measured(calpe, is_sanitized)
    out, shards = folder / "out", folder / "shards"
    for number in range(FILES):
        make = MAKERS[number % len(MAKERS)]
        for place in (shards, out):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        (out / "tree").mkdir()
        (out / "tree" / "file").write_bytes(b"new")
        make(chance, shards)
        on_disk = sum(path.stat().st_blocks * 512 for path in shards.iterdir())
        expect(on_disk <= DISK_MAX, f"{make.__name__}: {on_disk} bytes on disk")
        more = in_turn(shards, out)
        chosen = more if is_nightly() else [more[number // len(MAKERS) % len(more)]]
        for arguments in always(shards, out) + chosen:
            measured.run(f"file {number}, {make.__name__}", arguments)
    calpe.must(GOOD, "--version")
    return (f"{FILES} crafted sets, {measured.runs} commands: at most {measured.cpu:.2f} s and "
            f"{measured.memory >> 20} MiB")


if __name__ == "__main__":
    sys.exit(hostile.main_with_seed("use_security_budget", work))
