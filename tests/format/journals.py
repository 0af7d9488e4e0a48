# SPDX-License-Identifier: Apache-2.0
"""Redo journals next to shards, from docs/format.md ("A new generation") and nothing else."""
import collections
import struct

from shard_format import HEADER_BYTES, SHARDS_MAX, xxh3_64

Journal = collections.namedtuple("Journal", "uuid before after index file_bytes writes")
Write = collections.namedtuple("Write", "offset size place checksum")
ENTRY_BYTES = 32


def is_journal(path):
    """By its name: one that is not complete may end with a shard's header."""
    return path.name.startswith(".calpe-") and path.name.endswith(".redo")


def parse_journal(raw):
    """None unless it is complete and nothing in it contradicts the rest."""
    if len(raw) < HEADER_BYTES or raw[:8] != b"calpe-j1":
        return None
    version, count = struct.unpack_from("<II", raw, 8)
    before, after, index = struct.unpack_from("<QQH", raw, 32)
    file_bytes, data_bytes, table_checksum = struct.unpack_from("<QQQ", raw, 56)
    table = raw[HEADER_BYTES + data_bytes:]
    is_good = (version == 1 and not any(raw[50:56]) and not any(raw[80:HEADER_BYTES - 8])
               and struct.unpack_from("<Q", raw, HEADER_BYTES - 8)[0]
               == xxh3_64(raw[:HEADER_BYTES - 8])
               and 2 <= count <= 1 << 22 and 1 <= before < after
               and index < SHARDS_MAX and 2 * HEADER_BYTES <= file_bytes <= 1 << 63
               and len(raw) == HEADER_BYTES + data_bytes + ENTRY_BYTES * count
               and xxh3_64(table) == table_checksum)
    if not is_good:
        return None
    writes = [Write(*entry) for entry in struct.iter_unpack("<QQQQ", table)]
    if not are_writes_good(writes, file_bytes, data_bytes):
        return None
    return Journal(raw[16:32], before, after, index, file_bytes, writes)


def are_writes_good(writes, file_bytes, data_bytes):
    free_from = 0
    for write in writes:
        if not 1 <= write.size <= 1 << 24 or write.offset < free_from:
            return False
        free_from = write.offset + write.size
    at = HEADER_BYTES
    for write in sorted(writes, key=lambda w: w.place):
        if write.place != at:
            return False
        at += write.size
    return (at == HEADER_BYTES + data_bytes and writes[0][:2] == (0, HEADER_BYTES)
            and writes[-1][:2] == (file_bytes - HEADER_BYTES, HEADER_BYTES))


def redone(raw, journal, journal_raw):
    """The shard as if all writes had been done."""
    out = bytearray(raw[:journal.file_bytes])
    out += bytes(journal.file_bytes - len(out))
    for write in journal.writes:
        out[write.offset:write.offset + write.size] = \
            journal_raw[write.place:write.place + write.size]
    return bytes(out)


def journals_beside(paths):
    """(path, bytes, Journal) of all that are complete in the folders of these files."""
    for folder in sorted({path.parent for path in paths}):
        for path in sorted(folder.glob(".calpe-*.redo")):
            raw = path.read_bytes()
            journal = parse_journal(raw)
            if journal is not None:
                yield path, raw, journal


def apply_journals(shards, shard_of):
    """Shards (path, raw, header) as they are with the journals of generations that count;
    shard_of(path, raw) makes another."""
    pairs = []  # (place in shards, Journal, the shard after)
    for path, raw, journal in journals_beside([shard.path for shard in shards]):
        fitting = []
        for i, shard in enumerate(shards):
            h = shard.header
            if (shard.path.parent != path.parent or h.uuid != journal.uuid
                    or h.index != journal.index or h.generation not in journal[1:3]):
                continue
            after = shard_of(shard.path, redone(shard.raw, journal, raw))
            if (after is not None and after.header.generation == journal.after
                    and after.header.uuid == h.uuid and after.header.index == h.index
                    and after.header.file_bytes() == journal.file_bytes):
                fitting.append((h.generation != journal.after, len(shard.path.name),
                                shard.path.name, i, after))
        if fitting:
            *_, i, after = min(fitting, key=lambda fit: fit[:3])
            pairs.append((i, journal, after))
    out = list(shards)
    for i, journal, after in sorted(pairs, key=lambda pair: pair[1].after):
        step = journal[:3]
        is_any_changed = any(s.header.uuid == journal.uuid
                             and s.header.generation == journal.after for s in shards)
        with_journal = {j.index for _, j, _ in pairs if j[:3] == step}
        present = {s.header.index for s in shards if s.header.uuid == journal.uuid
                   and s.header.generation == journal.before}
        if is_any_changed or present <= with_journal:
            out[i] = after
    return out
