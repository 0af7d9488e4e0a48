# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzz targets: valid files and inputs in the form of each target.

Files are made by the independent writer of tests/format, not by the code that is fuzzed. Text
seeds are in corpus/KIND instead.
"""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import shard_format as fmt  # noqa: E402, pylint: disable=wrong-import-position
import writer  # noqa: E402, pylint: disable=wrong-import-position


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
    raw[42] = 1  # originals: a kind that the independent writer does not make
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
    """In the form of journal_fuzz.cpp: flags, units of 64 bytes of data, header, table."""
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


def cache_seeds():
    """In the form of cache_fuzz.cpp: flags, object, content, their sizes."""
    parts = [(0, b"object", b"content"), (0, b"", b""), (2, b"ab", b"target 3"),
             (1, b"object", b"content"), (2, b"\x7fELF" + bytes(40), b"x" * 60)]
    for flags, made, content in parts:
        yield bytes([flags]) + made + content + struct.pack("<QQ", len(made), len(content))


def superblock_seeds():
    """Superblocks, and batch headers of the log (docs/array-format.md)."""
    def superblock(k, m, **other):
        given = {"bytes": 1 << 20, "log": 1 << 18, "chunk": 65536, "spare": 4, "role": 0} | other
        raw = b"calpe-a1" + struct.pack("<II", 1, 0) + b"\1" * 16
        raw += struct.pack("<QQQ", 5, 4, 7) + b"\2" * 16
        raw += struct.pack("<HBBHHQ", given["role"], 0, 1, k + m, min(64, k + m + 4), 99)
        raw += struct.pack("<QQII", given["bytes"], given["log"], given["chunk"], given["spare"])
        raw = raw.ljust(128, b"\0") + struct.pack("<BBHHBxIIHxxIQ", 3, 1, k, m, 8, 285, 0, 0, 0, 77)
        raw = raw.ljust(512, b"\0")
        for role in range(k + m):
            raw += bytes([role + 2]) * 16 + struct.pack("<QQBB14x", 0, 0, role % 3, role % 4)
        sizes = given.get("grown")
        if sizes:
            raw = raw[:8] + struct.pack("<I", 2) + raw[12:112] + struct.pack("<I", 1) + raw[116:]
            raw = raw.ljust(4032, b"\0") + b"".join(struct.pack("<II", *size) for size in sizes)
        return b"\0" + raw

    def record(kind, column, slot, stripe, checks):
        roles = sum(1 << role for role in checks)
        words = [word for role in sorted(checks) for word in checks[role]]
        return struct.pack("<HHIQQ", kind, column, slot, stripe, roles) + struct.pack(
            f"<{len(words)}Q", *words)

    def header(*records):
        raw = b"calpe-l1" + struct.pack("<QQQQII", 0, 7, 1, 15, 4096, len(records))
        return b"\1" + raw.ljust(64, b"\0") + b"".join(records)

    yield superblock(2, 2)
    yield superblock(10, 4, bytes=1 << 40, log=1 << 26)
    yield superblock(4, 1, chunk=4096, role=3)
    yield superblock(1, 1, chunk=1 << 20, log=1 << 22, spare=2)
    yield superblock(3, 2, role=0xFFFF)
    yield superblock(2, 2, bytes=1 << 25, grown=[(3, 2), (4, 9), (70, 4)])
    two = {0: (11, 0), 3: (12, 0)}
    yield header(record(1, 1, 2, 0, two), record(1, 0, 2, 0, {0: (13, 1), 3: (14, 1)}))
    yield header(record(2, 0, 5, 3, {role: (1, 2) for role in range(4)}))
    yield header(record(3, 0, 1, 2, {}), record(4, 0, 0xFFFFFFFF, 1, {}))
    yield header(record(5, 0, 1, 2, {2: (5, 6)}), record(6, 1, 1, 2, {1: (7,)}))


def random_seeds(count, step):
    chance = random.Random(1)
    return [chance.randbytes(step * n) for n in range(1, count)]


def capi_seeds():
    """Steps of capi_fuzz.cpp: a codec, an encoded stripe, a plan and its use; or a new codec."""
    chance = random.Random(2)
    for number in range(16):
        take = bytes([0, 0, number])
        make = bytes([1, 3, 2 if number in (7, 8, 9) else 0, number, 3, 2, 2, 8, 1, 0, 0, 0, 0])
        yield (make if number % 4 == 0 else take) + bytes(
            [9, 24, 3, 4, 2, 1, 2, 1, 1, 0, 11, 0, 0, 0]) + chance.randbytes(60)
        yield take + bytes([9, 24, 3, 12, number % 3, number, 4, 0, 0, 0]) + chance.randbytes(60)
        yield take + bytes([10, 2, 8, 1, number % 8, 3, number % 2, 90, 2]) + chance.randbytes(60)


SEEDS = {"header": header_seeds, "manifest": manifest_seeds, "journal": journal_seeds,
         "set": lambda: random_seeds(8, 6), "cache": cache_seeds, "superblock": superblock_seeds,
         "array": lambda: random_seeds(9, 8), "capi": capi_seeds}
