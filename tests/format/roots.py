# SPDX-License-Identifier: Apache-2.0
"""Roots of shard format 1, from docs/format.md and nothing else: SHA-256 and HMAC of the library of
Python. Used by reader.py to check them and by writer.py to make them.
"""
import dataclasses
import hashlib
import hmac

import shard_format as fmt

DIGEST_BYTES = 32
NO_DIGEST = bytes(DIGEST_BYTES)
HEADER_PART = 465  # bytes 0 .. 464


def digest(kind, *parts):
    return hashlib.sha256(bytes([kind]) + b"".join(parts)).digest()


def shard_root(header, index, blocks):
    """blocks: of all stripes, in order."""
    leaves = [digest(0, block) for block in blocks]
    groups = [digest(1, *leaves[at:at + fmt.GROUP_STRIPES])
              for at in range(0, len(leaves), fmt.GROUP_STRIPES)]
    return digest(2, header.uuid, header.generation.to_bytes(8, "little"),
                  index.to_bytes(2, "little"), *groups)


def set_root(header, top):
    common = dataclasses.replace(header.of_set(), set_root=NO_DIGEST, hmac=NO_DIGEST)
    return digest(4, fmt.header_to_bytes(common)[:HEADER_PART], top)


def levels_of(roots):
    """All levels of the tree, leaves first."""
    count = 1
    while count < len(roots):
        count *= 2
    levels = [roots + [NO_DIGEST] * (count - len(roots))]
    while len(levels[-1]) > 1:
        last = levels[-1]
        levels.append([digest(3, last[i], last[i + 1]) for i in range(0, len(last), 2)])
    return levels


def climb(header):
    """From a shard's root to the top, by its path."""
    node = header.shard_root
    for level in range(fmt.root_levels(header)):
        other = header.path[level * DIGEST_BYTES:(level + 1) * DIGEST_BYTES]
        pair = (other, node) if header.index >> level & 1 else (node, other)
        node = digest(3, *pair)
    return node


def hmac_of(key, root):
    return hmac.new(key, root, hashlib.sha256).digest()


def headers_with_roots(header, shards, key):
    """header: common; shards: for each all its blocks. The headers of all shards."""
    header = dataclasses.replace(header, root_kind=1 if key is None else 2)
    roots = [shard_root(header, index, blocks) for index, blocks in enumerate(shards)]
    levels = levels_of(roots)
    root = set_root(header, levels[-1][0])
    made = []
    for index, own in enumerate(roots):
        path = b"".join(level[(index >> i) ^ 1] for i, level in enumerate(levels[:-1]))
        made.append(dataclasses.replace(
            header, index=index, shard_root=own, set_root=root,
            hmac=hmac_of(key, root) if key is not None else NO_DIGEST,
            path=path + bytes(fmt.PATH_BYTES - len(path))))
    return made


def problems_of(found, key=None):
    """What does not match its root, of a set whose blocks all match their checksums."""
    problems = []
    if key is not None and found.header.root_kind != 2:
        return ["there is no HMAC"]
    if key is not None and not hmac.compare_digest(hmac_of(key, found.header.set_root),
                                                   found.header.hmac):
        problems.append("HMAC is not of this key")
    if found.header.root_kind == 0:
        return problems
    for copies in found.shards:
        for shard in copies:
            h = shard.header
            blocks = [shard.block(stripe) for stripe in range(h.stripes)]
            if None in blocks or shard_root(h, h.index, blocks) != h.shard_root:
                problems.append(f"{shard.path}: does not match its root")
            if set_root(h, climb(h)) != h.set_root:
                problems.append(f"{shard.path}: is not in the set's root")
    return problems
