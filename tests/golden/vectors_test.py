#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes every golden vector with a second implementation: vectors_test.py DIR

Parity rows, their hash and the parity bytes must all be equal. Run by ctest.
"""
import functools
import json
import pathlib
import sys

import reference_codes
from xxh3 import xxh3_64


def data_shard(j, size):
    """The formula of tests/vectors/README.md."""
    shard = bytearray()
    for i in range(size):
        v = 7 * i * i + 131 * i + 29 * i * j + 17 * j + 11
        shard.append((v ^ v >> 8) & 0xFF)
    return bytes(shard)


@functools.lru_cache(maxsize=None)
def field_of(word_bits, polynomial):
    return reference_codes.Field(word_bits, polynomial)


def matrix_hash(field, rows):
    message = field.word_bits.to_bytes(1, "little") + field.polynomial.to_bytes(4, "little")
    message += len(rows).to_bytes(2, "little") + len(rows[0]).to_bytes(2, "little")
    message += b"".join(cell.to_bytes(2, "little") for row in rows for cell in row)
    return xxh3_64(message) or 1


def name_of(vector):
    return "{profile} {layout} {data_shards}+{parity_shards} w={word_bits}".format(**vector)


def check_vector(vector, points):
    """Yields the differences."""
    name = name_of(vector)
    field = field_of(vector["word_bits"], vector["polynomial"])
    stored_rows = [list(bytes.fromhex(row)) for row in vector["parity_rows"]]
    rows = stored_rows  # a custom code has no other source
    if vector["profile"] != "custom":
        rows = reference_codes.PROFILES[vector["profile"]](field, {**vector, "points": points})
    if rows != stored_rows:
        yield f"{name}: parity rows differ"
    if matrix_hash(field, rows) != int(vector["matrix_hash"], 16):
        yield f"{name}: matrix_hash differs"
    for stripe in vector["stripes"]:
        data = [data_shard(j, stripe["shard_bytes"]) for j in range(vector["data_shards"])]
        if vector["layout"] == "bytes":
            parity = reference_codes.encode_bytes(field, rows, data)
        else:
            parity = reference_codes.encode_packets(field, rows, data, vector["packet_bytes"])
        if [shard.hex() for shard in parity] != stripe["parity"]:
            yield f"{name}: parity of {stripe['shard_bytes']} bytes differs"


def main():
    folder = pathlib.Path(sys.argv[1])
    files = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    points = files["hybrid-good-points"]["points"]
    vectors = [vector for file in files.values() for vector in file.get("vectors", [])]
    messages = [message for vector in vectors for message in check_vector(vector, points)]
    seen = {vector["profile"] for vector in vectors}
    messages += [f"{name}: has no vector" for name in reference_codes.PROFILES if name not in seen]
    stripes = sum(len(vector["stripes"]) for vector in vectors)
    print("\n".join(messages) or f"vectors: {len(vectors)} codes, {stripes} stripes recomputed")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
