#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the numbers of docs/codes.md: codes_doc_test.py DOCUMENT POINTS

Recomputes lines of its indented blocks such as `cauchy 3+2 = f4 8e 01 / 47 a7 7a`, its table of
ones and its table of recoverable patterns with the second implementation of the profiles. Run by
ctest.
"""
import hashlib
import itertools
import json
import math
import pathlib
import re
import sys

import reference_codes
import wide_reference
from vectors_test import field_of, matrix_hash
from xxh3 import xxh3_64

POLYNOMIALS = {2: 0x7, 3: 0xB, 4: 0x13, 5: 0x25, 6: 0x43, 7: 0x89, 8: 0x11D}
EXAMPLE = re.compile(r"^    (sha1 |matrix_hash |)([a-z][a-z0-9-]*) (\d+)\+(\d+)(?: w=(\d+))?"
                     r"(?: groups=(\d+))? = ([0-9a-f /]+)$", re.M)


def computed_wide(kind, k, m):
    rows = [wide_reference.row(i, k, m) for i in range(m)]
    if kind == "sha1":
        cells = b"".join(cell.to_bytes(2, "little") for row in rows for cell in row)
        return hashlib.sha1(cells).hexdigest()[:8]
    if kind == "matrix_hash":
        used = wide_reference.points()[:wide_reference.transform_size(m) + k]
        header = bytes([16]) + (0x11D).to_bytes(4, "little")
        header += m.to_bytes(2, "little") + k.to_bytes(2, "little")
        message = header + b"".join(point.to_bytes(2, "little") for point in used)
        return f"{xxh3_64(message) or 1:016x}"
    return " / ".join(" ".join(f"{cell:04x}" for cell in row) for row in rows)


def computed(kind, name, spec, word_bits):
    if word_bits == 16:
        return computed_wide(kind, spec["data_shards"], spec["parity_shards"])
    field = field_of(word_bits, POLYNOMIALS[word_bits])
    rows = reference_codes.PROFILES[name](field, spec)
    if kind == "sha1":
        return hashlib.sha1(bytes(cell for row in rows for cell in row)).hexdigest()[:8]
    if kind == "matrix_hash":
        return f"{matrix_hash(field, rows):016x}"
    return " / ".join(" ".join(f"{cell:02x}" for cell in row) for row in rows)


def rank(field, rows):
    rows = [list(row) for row in rows]
    found = 0
    for c in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if rows[r][c]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        inverse = field.inverse(rows[found][c])
        for r in range(found + 1, len(rows)):
            factor = field.multiply(rows[r][c], inverse)
            rows[r] = [a ^ field.multiply(factor, b) for a, b in zip(rows[r], rows[found])]
        found += 1
    return found


def count_recoverable(rows, losses):
    """Counts the patterns of `losses` losses that the remaining parity shards can rebuild."""
    k, m = len(rows[0]), len(rows)
    total = 0
    for lost in itertools.combinations(range(k + m), losses):
        columns = [j for j in lost if j < k]
        left = [[row[j] for j in columns] for i, row in enumerate(rows) if k + i not in lost]
        total += rank(field_of(8, 0x11D), left) == len(columns)
    return total


def check_lrc_table(text):
    count = 0
    for k, l, g, reads, promised, cells in re.findall(
            r"^\| (\d+)\+(\d+)\+(\d+) \| (\d+) \| (\d+) \|((?: [\d/ ]*\|)+)$", text, re.M):
        k, l, g = int(k), int(l), int(g)
        spec = {"data_shards": k, "parity_shards": l + g, "local_groups": l}
        rows = reference_codes.lrc(field_of(8, 0x11D), spec)
        name = f"lrc {k}+{l}+{g}"
        if (int(reads), int(promised)) != (k // l, g + 1):
            yield f"{name}: shows {reads} reads and {promised} promised losses"
        for losses, cell in enumerate(cells.split("|"), 2):
            if not cell.strip():
                continue
            shown, patterns = map(int, cell.split("/"))
            count += 1
            if patterns != math.comb(k + l + g, losses) or shown != count_recoverable(rows, losses):
                yield f"{name}: {losses} losses show {cell}"
    if count < 15:
        yield f"only {count} entries of the table of recoverable patterns were found"


def check_ones_table(text, points):
    names = re.search(r"^\| m \| (.*) \|$", text, re.M)[1].split(" | ")
    field = field_of(8, 0x11D)
    for line in re.findall(r"^\| (\d(?: \| \d{3,4}){5}) \|$", text, re.M):
        m, *shown = map(int, line.split(" | "))
        spec = {"data_shards": 10, "parity_shards": m, "points": points}
        for name, value in zip(names, shown):
            rows = reference_codes.PROFILES[name](field, spec)
            ones = sum(reference_codes.ones_of_row(field, row) for row in rows)
            if ones != value:
                yield f"{name} 10+{m}: shows {value} ones, has {ones}"


def check_stored_spec(text):
    """The example of the section "Stored spec", made from the rows of its table."""
    section = re.search(r"^### Stored spec\n(.*?)^## ", text, re.M | re.S)[1]
    field = field_of(8, 0x11D)
    rows = reference_codes.PROFILES["hybrid"](field, {"data_shards": 10, "parity_shards": 4})
    values = {"magic": int.from_bytes(b"calpe-c1", "little"), "version": 1, "length": 64,
              "code family": 3, "layout": 1, "k": 10, "m": 4, "w": 8, "polynomial": 0x11D,
              "matrix_hash": matrix_hash(field, rows)}
    expected = bytearray(64)
    table = re.findall(r"^\| (\d+) \| (\d+) \| ([a-z _]+) \|", section, re.M)
    for offset, count, name in table:
        values["checksum"] = xxh3_64(bytes(expected[:56]))  # the last row
        part = values.pop(name, 0).to_bytes(int(count), "little")
        expected[int(offset):int(offset) + int(count)] = part
    shown = bytes.fromhex("".join(re.findall(r"^    ([0-9a-f ]+)$", section, re.M)))
    if shown != expected or len(table) != 13:
        yield f"stored spec: shows {shown.hex()}, is {expected.hex()}"


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    points = json.loads(pathlib.Path(sys.argv[2]).read_text())["points"]
    messages = [*check_lrc_table(text), *check_ones_table(text, points),
                *check_stored_spec(text)]
    shown = set()
    for kind, name, data, parity, word_bits, groups, value in EXAMPLE.findall(text):
        spec = {"data_shards": int(data), "parity_shards": int(parity),
                "local_groups": int(groups or 0), "points": points}
        expected = computed(kind.strip(), name, spec, int(word_bits or 8))
        if expected != value:
            messages.append(f"{kind}{name} {data}+{parity}: shows {value}, is {expected}")
        if not kind:
            shown.add(name)
    for name in reference_codes.PROFILES:
        if name not in shown:
            messages.append(f"{name}: has no example")
        if f"\n### {name}\n" not in text:
            messages.append(f"{name}: has no section")
    print("\n".join(messages) or f"codes: the examples of {len(shown)} profiles are right")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
