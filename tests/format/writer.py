#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sets of shards from docs/format.md: writer.py PATH OUT... --data K --parity M

For `calpe` to read: what one program writes and reads could be wrong in both.
"""
import argparse
import os
import pathlib
import stat
import sys
import uuid

import reader
import roots
import shard_format as fmt


def extents_of(path, size):
    """(offset, bytes) of what is no hole."""
    found, at = [], 0
    with open(path, "rb") as source:
        while at < size:
            try:
                start = os.lseek(source.fileno(), at, os.SEEK_DATA)
            except OSError:  # nothing but a hole is left
                break
            at = os.lseek(source.fileno(), start, os.SEEK_HOLE)
            found.append((start, min(at, size) - start))
    return found


def entry_of(path, name):
    status = os.lstat(path)
    kinds = {stat.S_IFREG: fmt.FILE, stat.S_IFDIR: fmt.FOLDER, stat.S_IFLNK: fmt.LINK}
    kind = kinds[stat.S_IFMT(status.st_mode)]
    seconds, nanoseconds = divmod(status.st_mtime_ns, 10**9)
    return fmt.Entry(
        kind, name, os.readlink(path) if kind == fmt.LINK else b"", stat.S_IMODE(status.st_mode),
        status.st_uid, status.st_gid, seconds, nanoseconds,
        status.st_size if kind == fmt.FILE else 0)


def content_of(path):
    """(data, entries) of a file or of all that is in a folder."""
    path = os.fsencode(path)
    if os.path.isdir(path):
        names = [os.path.relpath(os.path.join(folder, name), path)
                 for folder, folders, files in os.walk(path) for name in folders + files]
        places = [(b"", path)] + [(name, os.path.join(path, name)) for name in sorted(names)]
    else:
        places = [(os.path.basename(path), path)]
    data, entries = bytearray(), []
    for name, place in places:
        entry = entry_of(place, name)
        if entry.type == fmt.FILE:
            with open(place, "rb") as source:
                for start, size in extents_of(place, entry.file_bytes):
                    source.seek(start)
                    entry.extents.append((start, len(data), size))
                    data += source.read(size)
        entries.append(entry)
    return bytes(data), entries


def make_header(data, manifest, options):
    family = next(n for n, name in fmt.FAMILIES.items() if name == options["family"])
    k, m, groups = options["k"], options["m"], options.get("local_groups", 0)
    polynomial = options.get("polynomial", 0x11D)
    rows = reader.parity_rows(family, k, m, polynomial, groups)
    size = len(data) + len(manifest)
    block_bytes = options["block_bytes"]
    return fmt.Header(
        options.get("uuid") or uuid.uuid4().bytes, options.get("generation", 1), 0, block_bytes,
        -(-size // (k * block_bytes)), size, len(data), len(manifest), family, k, m, polynomial,
        groups, reader.matrix_hash(polynomial, rows), options["name"])


def shards_of(data, manifest, header, with_root=False, key=None):
    """The bytes of all shard files; a key is for roots with an HMAC."""
    k, size = header.k, header.block_bytes
    content = data + manifest
    content += bytes(header.stripes * k * size - len(content))
    bodies = [bytearray() for _ in range(k + header.m)]
    pages = [b""] * len(bodies)
    blocks_of = [[] for _ in bodies]
    for stripe in range(header.stripes):
        first = stripe * k * size
        blocks = [content[first + i * size:first + (i + 1) * size] for i in range(k)]
        blocks += [reader.combine(header.polynomial, row, blocks) for row in reader.rows_of(header)]
        for i, block in enumerate(blocks):
            bodies[i] += block
            blocks_of[i].append(block)
            pages[i] += header.block_checksum(stripe, i, block).to_bytes(8, "little")
        if stripe % fmt.GROUP_STRIPES == fmt.GROUP_STRIPES - 1 or stripe == header.stripes - 1:
            for i, page in enumerate(pages):
                bodies[i] += page + bytes(fmt.PAGE_BYTES - len(page))
            pages = [b""] * len(bodies)
    headers = [fmt.Header(**{**vars(header), "index": i}) for i in range(len(bodies))]
    if with_root or key is not None:
        headers = roots.headers_with_roots(header, blocks_of, key)
    shards = []
    for own, body in zip(map(fmt.header_to_bytes, headers), bodies):
        shards.append(own + bytes(body) + own)
    return shards


def write(path, targets, **options):
    """Returns the paths of the shards. Options: k, m, family, block_bytes, name and others."""
    data, entries = content_of(path)
    manifest = fmt.manifest_to_bytes(entries)
    options.setdefault("name", os.path.basename(os.fsencode(path)))
    options.setdefault("family", "hybrid" if options["m"] <= 4 else "lch")
    shards = shards_of(data, manifest, make_header(data, manifest, options),
                       options.get("with_root", False), options.get("key"))
    paths = []
    for i, shard in enumerate(shards):
        target = pathlib.Path(targets[i % len(targets)])
        target.mkdir(parents=True, exist_ok=True)
        paths.append(target / f"{os.fsdecode(options['name'])}.s{i:03d}.calpe")
        paths[-1].write_bytes(shard)
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--data", type=int, default=4)
    parser.add_argument("--parity", type=int, default=2)
    parser.add_argument("--block-bytes", type=int, default=4096)
    arguments = parser.parse_args()
    for path in write(arguments.path, arguments.targets, k=arguments.data, m=arguments.parity,
                      block_bytes=arguments.block_bytes):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
