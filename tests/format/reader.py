#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of shards, from docs/format.md: reader.py restore|verify FOLDER... [-o OUT]
[--original PATH]

Shares no code with src/: the parity rows are those of tests/golden/reference_codes.py, which were
written from docs/codes.md. Slow, and meant for a few MiB. Exit codes are those of `calpe`.
"""
import argparse
import functools
import os
import pathlib
import sys

import journals
import roots
import shard_format as fmt
from shard_format import FormatError, require, xxh3_64

import reference_codes


# --- code ----------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def field_of(polynomial):
    return reference_codes.Field(8, polynomial)


@functools.lru_cache(maxsize=None)
def tables_of(polynomial):
    """For each coefficient what bytes.translate needs to multiply a block by it."""
    return [bytes(row) for row in field_of(polynomial).products]


@functools.lru_cache(maxsize=None)
def parity_rows(family, k, m, polynomial, local_groups):
    spec = {"data_shards": k, "parity_shards": m, "local_groups": local_groups}
    return reference_codes.PROFILES[fmt.FAMILIES[family]](field_of(polynomial), spec)


def rows_of(header):
    return parity_rows(header.family, header.k, header.m, header.polynomial, header.local_groups)


def matrix_hash(polynomial, rows):
    message = b"\x08" + polynomial.to_bytes(4, "little")
    message += len(rows).to_bytes(2, "little") + len(rows[0]).to_bytes(2, "little")
    message += b"".join(cell.to_bytes(2, "little") for row in rows for cell in row)
    return xxh3_64(message) or 1


def combine(polynomial, coefficients, blocks):
    """The sum of coefficient times block."""
    total = 0
    for coefficient, block in zip(coefficients, blocks):
        if coefficient:
            product = block.translate(tables_of(polynomial)[coefficient])
            total ^= int.from_bytes(product, "little")
    return total.to_bytes(len(blocks[0]), "little")


@functools.lru_cache(maxsize=None)
def solution(family, k, m, polynomial, local_groups, good):
    """good: indices of the good blocks. (data index, [(good index, coefficient)]) of each lost data
    block, by elimination over all good parity blocks; None where they do not determine it."""
    field = field_of(polynomial)
    rows = parity_rows(family, k, m, polynomial, local_groups)
    lost = [j for j in range(k) if j not in good]
    # Each good parity: coefficients of the lost | coefficients of the good blocks, sum is 0.
    work = []
    for i in (i for i in range(m) if k + i in good):
        known = [rows[i][g] if g < k else int(g == k + i) for g in good]
        work.append([rows[i][j] for j in lost] + known)
    for c in range(len(lost)):
        pivot = next((r for r in range(c, len(work)) if work[r][c]), None)
        if pivot is None:
            return None
        work[c], work[pivot] = work[pivot], work[c]
        factor = field.inverse(work[c][c])
        work[c] = [field.multiply(factor, x) for x in work[c]]
        for r, row in enumerate(work):
            if r != c and row[c]:
                work[r] = [x ^ field.multiply(row[c], y) for x, y in zip(row, work[c])]
    return [(j, work[c][len(lost):]) for c, j in enumerate(lost)]


# --- shards --------------------------------------------------------------------------------------


class ShardFile:
    """A file with at least one good header."""

    def __init__(self, path, raw, header, headers_good):
        self.path, self.raw, self.header, self.headers_good = path, raw, header, headers_good

    def is_whole(self):
        return self.headers_good == 2 and len(self.raw) == self.header.file_bytes()

    def block(self, stripe):
        """The block, if it is that of this set, generation, stripe and shard; else None."""
        h = self.header
        at, place = h.block_offset(stripe), h.checksum_offset(stripe)
        block, stored = self.raw[at:at + h.block_bytes], self.raw[place:place + fmt.CHECKSUM_BYTES]
        if len(block) != h.block_bytes or len(stored) != fmt.CHECKSUM_BYTES:
            return None
        expected = h.block_checksum(stripe, h.index, block)
        return block if expected == int.from_bytes(stored, "little") else None


def open_shard(path):
    return shard_of(path, pathlib.Path(path).read_bytes())


def shard_of(path, raw):
    headers = []
    for copy in (raw[:fmt.HEADER_BYTES], raw[-fmt.HEADER_BYTES:]):
        try:
            headers.append(fmt.parse_header(copy))
        except FormatError:
            pass
    if not headers:
        return None
    meant = headers[0]
    if headers[-1].uuid == meant.uuid and headers[-1].generation > meant.generation:
        meant = headers[-1]
    return ShardFile(path, raw, meant, headers.count(meant))


def files_below(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from (entry for entry in sorted(path.iterdir()) if entry.is_file())
        else:
            yield path


class ShardSet:
    """Shards of one uuid and generation."""

    def __init__(self, header):
        self.header = header
        self.shards = [[] for _ in range(header.k + header.m)]
        rows = rows_of(header)
        require(matrix_hash(header.polynomial, rows) == header.matrix_hash, "matrix hash")

    def present(self):
        return sum(1 for copies in self.shards if copies)

    def good_block(self, index, stripe):
        return next((block for block in (shard.block(stripe) for shard in self.shards[index])
                     if block is not None), None)

    def blocks(self, stripe):
        """All k+m blocks of a stripe, None where none is good."""
        return [self.good_block(index, stripe) for index in range(len(self.shards))]

    def data_blocks(self, stripe):
        h = self.header
        data = [self.good_block(index, stripe) for index in range(h.k)]
        if None not in data:
            return data
        blocks = self.blocks(stripe)
        good = tuple(i for i, block in enumerate(blocks) if block is not None)
        lost = solution(h.family, h.k, h.m, h.polynomial, h.local_groups, good)
        if lost is None:
            raise LostStripes([stripe])
        for j, coefficients in lost:
            blocks[j] = combine(h.polynomial, coefficients, [blocks[g] for g in good])
        return blocks[:h.k]

    def parity_blocks(self, data):
        return [combine(self.header.polynomial, row, data) for row in rows_of(self.header)]

    def read(self, offset, size):
        h, out, stripe_bytes = self.header, bytearray(), self.header.k * self.header.block_bytes
        end = offset + size
        for stripe in range(offset // stripe_bytes, -(-end // stripe_bytes)):
            data = b"".join(self.data_blocks(stripe))
            first = stripe * stripe_bytes
            out += data[max(offset - first, 0):min(end - first, stripe_bytes)]
        require(end <= h.content_bytes, "read beyond the content")
        return bytes(out)

    def manifest(self):
        h = self.header
        return fmt.parse_manifest(self.read(h.manifest_offset, h.manifest_bytes), h.manifest_offset)


class OriginalSet(ShardSet):
    """Parity files, and the files that they are of."""

    def __init__(self, header):
        super().__init__(header)
        self.original = None  # next to the parity files

    @functools.cached_property
    def entries(self):
        h = self.header
        for shard, at in ((s, at) for s in self.files() for at in h.list_offsets()):
            raw = shard.raw[at:at + h.manifest_bytes]
            try:
                entries = fmt.parse_manifest(raw, h.content_bytes, h.version)
            except FormatError:
                continue
            require(all(e.type != fmt.STREAM for e in entries), "a stream has no original")
            return entries
        raise FormatError("no parity file has a good manifest")

    def files(self):
        return (shard for copies in self.shards for shard in copies)

    def manifest(self):
        return self.entries

    def present(self):
        return self.header.k + super().present()

    def place_of(self, entry):
        """None: a link is in the way."""
        place = self.original or next(self.files()).path.parent / os.fsdecode(self.header.name)
        place = os.fsencode(place)
        if len(self.entries) == 1 and self.entries[0].type == fmt.FILE:
            return None if os.path.islink(place) else place
        for part in entry.path.split(b"/"):
            place = os.path.join(place, part)
            if os.path.islink(place):
                return None
        return place

    @functools.cached_property
    def content(self):
        """As the files have it now: slow and simple, all of it at once."""
        h = self.header
        out = bytearray(h.stripes * h.k * h.block_bytes)
        for e in self.entries:
            place = self.place_of(e) if e.extents else None
            if place is None or not os.path.isfile(place):
                continue
            with open(place, "rb") as file:
                for in_file, in_content, size in e.extents:
                    file.seek(in_file)
                    data = file.read(size)
                    out[in_content:in_content + len(data)] = data
        return bytes(out)

    @functools.lru_cache(maxsize=None)
    def page(self, group, page):
        """From a parity file that has it good; None: none has."""
        h = self.header
        for shard in self.files():
            at = h.checksum_offset(group * fmt.GROUP_STRIPES, page)
            raw = shard.raw[at:at + fmt.PAGE_BYTES]
            place = h.checksum_offset(group * fmt.GROUP_STRIPES, h.k + 1)
            place += page * fmt.CHECKSUM_BYTES
            expected = h.block_checksum(group * fmt.GROUP_STRIPES, fmt.PAGE_SHARD + page, raw)
            stored = int.from_bytes(shard.raw[place:place + fmt.CHECKSUM_BYTES], "little")
            if len(raw) == fmt.PAGE_BYTES and expected == stored:
                return raw
        return None

    def good_block(self, index, stripe):
        h = self.header
        if index >= h.k:
            return super().good_block(index, stripe)
        group, within = divmod(stripe, fmt.GROUP_STRIPES)
        page = self.page(group, 1 + index)
        if page is None:
            return None
        at = (index * h.stripes + stripe) * h.block_bytes
        block = self.content[at:at + h.block_bytes]
        stored = page[within * fmt.CHECKSUM_BYTES:(within + 1) * fmt.CHECKSUM_BYTES]
        expected = h.block_checksum(stripe, index, block)
        return block if expected == int.from_bytes(stored, "little") else None

    @functools.cached_property
    def rebuilt(self):
        h = self.header
        stripes = [self.data_blocks(stripe) for stripe in range(h.stripes)]
        return b"".join(stripe[i] for i in range(h.k) for stripe in stripes)

    def read(self, offset, size):
        require(offset + size <= self.header.content_bytes, "read beyond the content")
        return self.rebuilt[offset:offset + size]


class LostStripes(Exception):
    def __init__(self, stripes):
        super().__init__(f"not repairable: stripes {', '.join(map(str, stripes))}")
        self.stripes = stripes


def is_unfinished(found):
    """Only some files that were being written: never a set."""
    paths = [shard.path.name for copies in found.shards for shard in copies]
    return found.present() < len(found.shards) and bool(paths) and all(
        name.startswith(".calpe-") and name.endswith(".part") for name in paths)


def find_sets(paths):
    """By (uuid, generation): shards are known by their headers alone."""
    sets = {}
    shards = (open_shard(path) for path in files_below(paths) if not journals.is_journal(path))
    opened = [shard for shard in shards if shard is not None]
    for shard in journals.apply_journals(opened, shard_of):
        key = shard.header.of_set()
        if key not in sets:
            sets[key] = (OriginalSet if key.kind == fmt.ORIGINALS else ShardSet)(key)
        sets[key].shards[shard.header.index].append(shard)
    return [found for found in sets.values() if not is_unfinished(found)]


def choose_set(paths):
    """The newest generation that has k shards, else the one with the most."""
    sets = find_sets(paths)
    require(sets, "no shard has a good header")
    require(len({s.header.uuid for s in sets}) == 1, "shards of several sets")
    enough = [s for s in sets if s.present() >= s.header.k]
    if enough:
        return max(enough, key=lambda s: s.header.generation)
    return max(sets, key=lambda s: (s.present(), s.header.generation))


def verify(found, key=None):
    """(problems, stripes that cannot be repaired). Parity and roots are computed again."""
    h, problems, lost = found.header, [], []
    for index, copies in enumerate(found.shards):
        if not copies and not (h.kind == fmt.ORIGINALS and index < h.k):
            problems.append(f"shard {index}: missing")
        problems += [f"{s.path}: header or length" for s in copies if not s.is_whole()]
    for stripe in range(h.stripes):
        blocks = found.blocks(stripe)
        problems += [f"stripe {stripe}: block {i} is damaged"
                     for i, block in enumerate(blocks)
                     if block is None and (found.shards[i] or h.kind == fmt.ORIGINALS)]
        try:
            data = found.data_blocks(stripe)
        except LostStripes:
            lost.append(stripe)
            continue
        for block, expected in zip(blocks, data + found.parity_blocks(data)):
            require(block in (None, expected), f"stripe {stripe}: blocks contradict each other")
        require(is_zero_beyond(h, stripe, data), "content ends in other than 0")
    for copies in found.shards:
        for shard in copies:
            problems += check_pages(shard)
    problems += roots.problems_of(found, key)
    if h.kind == fmt.ORIGINALS:
        problems += check_lists(found)
        check_digests(found, lost)
    return problems, lost


def check_lists(found):
    """Every parity file has the same list, in each copy."""
    h = found.header
    expected = fmt.manifest_to_bytes(found.manifest(), h.version)
    for shard in found.files():
        for at in h.list_offsets():
            if shard.raw[at:at + h.manifest_bytes] != expected:
                yield f"{shard.path}: the file list at {at} is damaged"
        first = h.manifest_offset + h.manifest_bytes
        if h.version == fmt.WITH_DIGESTS and any(shard.raw[first:first + fmt.LIST_GAP]):
            yield f"{shard.path}: bytes between the file lists are not 0"


def check_digests(found, lost):
    if found.header.version != fmt.WITH_DIGESTS or lost:
        return
    for e in found.manifest():
        if e.type == fmt.FILE:
            data = b"".join(found.read(in_content, size) for _, in_content, size in e.extents)
            require(fmt.digest_of(data) == e.digest, f"{e.path!r}: its digest is of other bytes")


def is_zero_beyond(h, stripe, data):
    """Whether what is in the stripe but not in the content is 0."""
    for i, block in enumerate(data):
        number = i * h.stripes + stripe if h.kind == fmt.ORIGINALS else stripe * h.k + i
        if any(block[max(h.content_bytes - number * h.block_bytes, 0):]):
            return False
    return True


def check_pages(shard):
    """Checksums of stripes that do not exist are 0."""
    h = shard.header
    for group in range(-(-h.stripes // fmt.GROUP_STRIPES)):
        count = h.stripes_in_group(group)
        page = h.group_offset(group) + count * h.block_bytes
        if h.kind == fmt.ORIGINALS:
            yield from check_original_pages(shard, group)
        if any(shard.raw[page + count * fmt.CHECKSUM_BYTES:page + fmt.PAGE_BYTES]):
            yield f"{shard.path}: page {group} has checksums of no stripe"


def check_original_pages(shard, group):
    h, first = shard.header, group * fmt.GROUP_STRIPES
    sums = shard.raw[h.checksum_offset(first, h.k + 1):][:fmt.PAGE_BYTES]
    for page in range(h.k + 1):
        at = h.checksum_offset(first, page)
        raw = shard.raw[at:at + fmt.PAGE_BYTES]
        stored = int.from_bytes(sums[page * fmt.CHECKSUM_BYTES:][:fmt.CHECKSUM_BYTES], "little")
        if h.block_checksum(first, fmt.PAGE_SHARD + page, raw) != stored:
            yield f"{shard.path}: page {page} of group {group} is damaged"
        if any(raw[h.stripes_in_group(group) * fmt.CHECKSUM_BYTES:]):
            yield f"{shard.path}: page {page} of group {group} has checksums of no stripe"
    if any(sums[(h.k + 1) * fmt.CHECKSUM_BYTES:]):
        yield f"{shard.path}: the page of pages of group {group} has more than pages"


# --- files ---------------------------------------------------------------------------------------


def restore(found, folder):
    folder = os.fsencode(folder)
    entries = found.manifest()
    os.makedirs(folder, exist_ok=True)

    def place_of(e):
        if e.type == fmt.STREAM:
            return os.path.join(folder, b"stream")
        return os.path.join(folder, e.path) if e.path else folder  # itself

    for e in entries:
        path = place_of(e)
        if e.type == fmt.FOLDER:
            os.makedirs(path, 0o700, exist_ok=not e.path)
        elif e.type == fmt.LINK:
            os.symlink(e.target, path)
        else:
            with open(path, "xb") as out:
                out.truncate(e.file_bytes)
                for in_file, in_content, size in e.extents:
                    out.seek(in_file)
                    out.write(found.read(in_content, size))
    for e in reversed(entries):  # what is in a folder before the folder
        path = place_of(e)
        if e.type != fmt.LINK:
            os.chmod(path, e.mode)
        time = e.seconds * 10**9 + e.nanoseconds
        os.utime(path, ns=(time, time), follow_symlinks=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["verify", "restore"])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("-o", "--output")
    parser.add_argument("--key-file", type=pathlib.Path)
    parser.add_argument("--original")
    arguments = parser.parse_args()
    try:
        found = choose_set(arguments.paths)
        if found.header.kind == fmt.ORIGINALS:
            found.original = arguments.original
        if arguments.verb == "restore":
            restore(found, arguments.output)
            return 0
        key = arguments.key_file.read_bytes() if arguments.key_file else None
        problems, lost = verify(found, key)
        print("\n".join(problems) or "good")
        if lost:
            raise LostStripes(lost)
        return 1 if problems else 0
    except (FormatError, LostStripes) as error:
        print(f"reader: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
