# SPDX-License-Identifier: Apache-2.0
"""Headers, places and manifests of shard formats 1 and 2, from docs/format.md and nothing else.

Used by reader.py and writer.py; numbers that the specification names stand here and nowhere else.
"""
import dataclasses
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
from xxh3 import xxh3_64  # noqa: E402, pylint: disable=wrong-import-position

HEADER_BYTES = 4096
PAGE_BYTES = 4096
GROUP_STRIPES = 512
CHECKSUM_BYTES = 8
BLOCK_BYTES_MIN, BLOCK_BYTES_MAX = 64, 1 << 24
MANIFEST_BYTES_MAX = 1 << 32
STRIPE_BYTES_MAX = 1 << 26  # parity included
CAPACITY_MAX = 1 << 62
SHARDS_MAX = 256
FAMILIES = {
    1: "cauchy", 2: "vandermonde", 3: "hybrid", 4: "lch", 5: "vandermonde-jerasure",
    6: "vandermonde-isal", 10: "vandermonde-zfec", 11: "vandermonde-lec", 12: "raid6", 13: "lrc",
}
FILE, FOLDER, LINK, STREAM = range(4)
SHARDS, ORIGINALS = range(2)
WITH_DIGESTS = 2  # version
LIST_GAP = 4096  # zeros between two copies of a manifest
DIGEST_PIECE = 1 << 20
PAGE_SHARD = 65536  # page t is masked as a block of shard 65,536 + t


class FormatError(Exception):
    """Bytes that are not what docs/format.md says."""


def require(condition, message):
    if not condition:
        raise FormatError(message)


# --- header --------------------------------------------------------------------------------------

# (offset, bytes, name in docs/format.md, attribute); those without attribute have one value.
HEADER_FIELDS = [
    (0, 8, "magic", b"calpe-s1"),
    (8, 4, "version", "version"),
    (12, 4, "header bytes", HEADER_BYTES),
    (16, 16, "uuid of the set", "uuid"),
    (32, 8, "generation", "generation"),
    (40, 2, "shard index", "index"),
    (42, 1, "kind", "kind"),
    (43, 1, "root kind", "root_kind"),
    (44, 4, "block bytes B", "block_bytes"),
    (48, 8, "stripes S", "stripes"),
    (56, 8, "content bytes", "content_bytes"),
    (64, 8, "manifest offset", "manifest_offset"),
    (72, 8, "manifest bytes", "manifest_bytes"),
    (80, 1, "code family", "family"),
    (81, 1, "layout", 1),
    (82, 2, "k", "k"),
    (84, 2, "m", "m"),
    (86, 1, "word bits", 8),
    (88, 4, "polynomial", "polynomial"),
    (92, 4, "packet bytes", 0),
    (96, 2, "local groups", "local_groups"),
    (104, 8, "matrix hash", "matrix_hash"),
    (112, 32, "root of this shard", "shard_root"),
    (144, 32, "root of the set", "set_root"),
    (176, 32, "HMAC", "hmac"),
    (208, 2, "bytes of the name", "name_bytes"),
    (210, 255, "name", "name"),
    (480, 256, "path of the root", "path"),
    (4088, 8, "checksum", "checksum"),
]
TEXT_FIELDS = {"uuid", "name", "shard_root", "set_root", "hmac", "path"}
PATH_BYTES = 256


@dataclasses.dataclass(frozen=True)
class Header:
    uuid: bytes
    generation: int
    index: int
    block_bytes: int
    stripes: int
    content_bytes: int
    manifest_offset: int
    manifest_bytes: int
    family: int
    k: int
    m: int
    polynomial: int
    local_groups: int
    matrix_hash: int
    name: bytes
    root_kind: int = 0
    shard_root: bytes = bytes(32)
    set_root: bytes = bytes(32)
    hmac: bytes = bytes(32)
    path: bytes = bytes(PATH_BYTES)
    kind: int = SHARDS
    version: int = 1

    def of_set(self):
        """What all shards of a set agree in."""
        return dataclasses.replace(self, index=0, shard_root=bytes(32), path=bytes(PATH_BYTES))

    def pages(self):
        return self.k + 2 if self.kind == ORIGINALS else 1

    def stripes_in_group(self, group):
        return min(GROUP_STRIPES, self.stripes - GROUP_STRIPES * group)

    def group_offset(self, group):
        return HEADER_BYTES + group * (
            GROUP_STRIPES * self.block_bytes + self.pages() * PAGE_BYTES)

    def block_offset(self, stripe):
        group, within = divmod(stripe, GROUP_STRIPES)
        return self.group_offset(group) + within * self.block_bytes

    def checksum_offset(self, stripe, page=0):
        group, within = divmod(stripe, GROUP_STRIPES)
        blocks = self.stripes_in_group(group) * self.block_bytes
        return self.group_offset(group) + blocks + page * PAGE_BYTES + within * CHECKSUM_BYTES

    def body_end(self):
        groups = -(-self.stripes // GROUP_STRIPES)
        return HEADER_BYTES + self.stripes * self.block_bytes + groups * self.pages() * PAGE_BYTES

    def list_offsets(self):
        """Of each copy of the manifest of originals."""
        copies = 2 if self.version == WITH_DIGESTS else 1
        return [self.manifest_offset + i * (self.manifest_bytes + LIST_GAP) for i in range(copies)]

    def file_bytes(self):
        end = self.body_end()
        if self.kind == ORIGINALS:
            end = self.list_offsets()[-1] + self.manifest_bytes
        return end + HEADER_BYTES

    def block_checksum(self, stripe, shard, block):
        mask = self.uuid + struct.pack("<QQQ", self.generation, stripe, shard)
        return xxh3_64(block) ^ xxh3_64(mask)


def header_to_bytes(header):
    out = bytearray(HEADER_BYTES)
    for offset, size, _, attribute in HEADER_FIELDS[:-1]:
        value = attribute
        if attribute == "name_bytes":
            value = len(header.name)
        elif isinstance(attribute, str):
            value = getattr(header, attribute)
        if isinstance(value, int):
            value = value.to_bytes(size, "little")
        out[offset:offset + len(value)] = value
    out[-8:] = xxh3_64(bytes(out[:-8])).to_bytes(8, "little")
    return bytes(out)


def parse_header(raw):
    require(len(raw) == HEADER_BYTES, f"a header has {HEADER_BYTES} bytes, not {len(raw)}")
    require(raw[:8] == HEADER_FIELDS[0][3], "magic is not calpe-s1")
    require(xxh3_64(raw[:-8]) == int.from_bytes(raw[-8:], "little"), "checksum of the header")
    values, rest = {}, bytearray(raw)
    for offset, size, name, attribute in HEADER_FIELDS:
        field = raw[offset:offset + size]
        rest[offset:offset + size] = bytes(size)
        if isinstance(attribute, bytes):
            require(field == attribute, f"{name} is {field!r}, not {attribute!r}")
        elif isinstance(attribute, int):
            got = int.from_bytes(field, "little")
            require(got == attribute, f"{name} is {got}, not {attribute}")
        elif attribute in TEXT_FIELDS:
            values[attribute] = field
        else:
            values[attribute] = int.from_bytes(field, "little")
    require(not any(rest), "bytes that no field has are not 0")
    length = values.pop("name_bytes")
    del values["checksum"]
    require(length <= 255 and not any(values["name"][length:]), "the name is longer than it says")
    values["name"] = values["name"][:length]
    require(b"/" not in values["name"] and b"\0" not in values["name"], "the name has folders")
    require(values["name"] not in (b".", b".."), "the name is . or ..")
    header = Header(**values)
    check_header(header)
    return header


def root_levels(header):
    return (header.k + header.m - 1).bit_length()


def check_roots(header):
    h = header
    require(h.root_kind <= 2, f"root kind {h.root_kind}")
    require(h.root_kind != 0 or not any(h.shard_root + h.set_root), "a root with root kind 0")
    require(h.root_kind == 2 or not any(h.hmac), "an HMAC without root kind 2")
    used = 32 * root_levels(h) if h.root_kind else 0
    require(not any(h.path[used:]), "path of the root is longer than the tree")


def check_header(header):
    h = header
    require(h.version in (1, WITH_DIGESTS), f"version is {h.version}")
    require(h.version == 1 or h.kind == ORIGINALS, "version 2 without originals")
    require(h.generation >= 1, "generation is 0")
    require(h.family in FAMILIES, f"code family {h.family} is not one of layout bytes")
    require(h.k >= 1 and h.m >= 1 and h.k + h.m <= SHARDS_MAX, f"shape {h.k}+{h.m}")
    require(h.kind in (SHARDS, ORIGINALS), f"kind {h.kind}")
    require(h.kind == SHARDS or h.index >= h.k, f"shard index {h.index} is no parity file")
    require(h.index < h.k + h.m, f"shard index {h.index} of {h.k + h.m}")
    require(h.polynomial >> 8 == 1, f"polynomial {h.polynomial:#x} is not of degree 8")
    require((h.local_groups != 0) == (FAMILIES[h.family] == "lrc"), "local groups without lrc")
    require(h.matrix_hash != 0, "matrix hash is 0")
    check_roots(h)
    require(BLOCK_BYTES_MIN <= h.block_bytes <= BLOCK_BYTES_MAX and h.block_bytes % 64 == 0,
            f"block bytes {h.block_bytes}")
    require((h.k + h.m) * h.block_bytes <= STRIPE_BYTES_MAX, "a stripe is too large")
    stripe_bytes = h.k * h.block_bytes
    require(h.stripes * stripe_bytes <= CAPACITY_MAX, f"{h.stripes} stripes of {stripe_bytes}")
    least = (h.stripes - 1) * stripe_bytes + 1 if h.stripes else 0
    require(least <= h.content_bytes <= h.stripes * stripe_bytes,
            f"{h.content_bytes} bytes of content are not {h.stripes} stripes of {stripe_bytes}")
    require(h.manifest_bytes <= MANIFEST_BYTES_MAX, f"manifest of {h.manifest_bytes} bytes")
    if h.kind == ORIGINALS:
        require(h.manifest_offset == h.body_end(), "the manifest is not behind the groups")
        return
    require(h.manifest_offset + h.manifest_bytes == h.content_bytes,
            "the manifest does not end the content")


# --- manifest ------------------------------------------------------------------------------------

MANIFEST_MAGICS = {1: b"calpe-m1", WITH_DIGESTS: b"calpe-m2"}
ENTRY = struct.Struct("<BBHHHIIIIqQII")
EXTENT = struct.Struct("<QQQ")


@dataclasses.dataclass
class Entry:
    type: int
    path: bytes
    target: bytes = b""
    mode: int = 0
    user: int = 0
    group: int = 0
    seconds: int = 0
    nanoseconds: int = 0
    file_bytes: int = 0
    extents: list = dataclasses.field(default_factory=list)  # (in file, in content, bytes)
    digest: int = 0


def digest_of(data):
    """Of the bytes of all extents of a file."""
    pieces = (data[at:at + DIGEST_PIECE] for at in range(0, len(data), DIGEST_PIECE))
    return xxh3_64(b"".join(struct.pack("<Q", xxh3_64(piece)) for piece in pieces))


def manifest_to_bytes(entries, version=1):
    out = bytearray(MANIFEST_MAGICS[version] + struct.pack("<I", len(entries)))
    for e in entries:
        out += ENTRY.pack(e.type, 0, len(e.path), len(e.target), 0, e.mode, e.user, e.group,
                          e.nanoseconds, e.seconds, e.file_bytes, len(e.extents), 0)
        out += struct.pack("<Q", e.digest) if version == WITH_DIGESTS else b""
        out += b"".join(EXTENT.pack(*extent) for extent in e.extents) + e.path + e.target
    return bytes(out) + struct.pack("<Q", xxh3_64(bytes(out)))


def parse_manifest(raw, data_bytes, version=1):
    magic = MANIFEST_MAGICS[version]
    require(len(raw) >= 20 and raw[:8] == magic, f"magic is not {magic.decode()}")
    require(xxh3_64(raw[:-8]) == int.from_bytes(raw[-8:], "little"), "checksum of the manifest")
    body, at = raw[:-8], 12
    count = int.from_bytes(raw[8:12], "little")
    least = ENTRY.size + (8 if version == WITH_DIGESTS else 0)
    require(count * least <= len(body) - at, f"{count} entries do not fit")
    entries = []
    for _ in range(count):
        entry, at = parse_entry(body, at, version)
        entries.append(entry)
    require(at == len(body), f"{len(body) - at} bytes behind the entries")
    check_entries(entries, data_bytes)
    return entries


def parse_entry(body, at, version):
    digest_bytes = 8 if version == WITH_DIGESTS else 0
    require(at + ENTRY.size + digest_bytes <= len(body), "an entry is cut off")
    (kind, zero1, path_bytes, target_bytes, zero2, mode, user, group, nanoseconds, seconds,
     file_bytes, extent_count, zero3) = ENTRY.unpack_from(body, at)
    require(zero1 == zero2 == zero3 == 0, "bytes that no field has are not 0")
    at += ENTRY.size
    digest = int.from_bytes(body[at:at + digest_bytes], "little")
    at += digest_bytes
    end = at + extent_count * EXTENT.size
    require(end + path_bytes + target_bytes <= len(body), "an entry is cut off")
    extents = [EXTENT.unpack_from(body, place) for place in range(at, end, EXTENT.size)]
    path = body[end:end + path_bytes]
    target = body[end + path_bytes:end + path_bytes + target_bytes]
    entry = Entry(kind, path, target, mode, user, group, seconds, nanoseconds, file_bytes, extents,
                  digest)
    return entry, end + path_bytes + target_bytes


def check_entry(e, data_bytes, is_root):
    name = e.path.decode(errors="replace")
    require(e.type in (FILE, FOLDER, LINK, STREAM), f"{name}: type {e.type}")
    require(e.mode <= 0o7777, f"{name}: mode {e.mode:o}")
    require(e.type == FILE or e.digest == 0, f"{name}: a digest without a file")
    require(e.nanoseconds < 10**9, f"{name}: {e.nanoseconds} nanoseconds")
    require((len(e.target) > 0) == (e.type == LINK), f"{name}: target")
    require(b"\0" not in e.target and b"\0" not in e.path, f"{name}: a byte 0")
    require(e.file_bytes < 1 << 63, f"{name}: {e.file_bytes} bytes")
    if e.type == STREAM:
        require(e.path == b"", f"{name}: a stream has no path")
    elif not is_root:
        require(not {b"", b".", b".."} & set(e.path.split(b"/")), f"{name}: not a relative path")
    if e.type in (FOLDER, LINK):
        require(not e.extents and e.file_bytes == 0, f"{name}: has data")
    end = 0
    for in_file, in_content, size in e.extents:
        require(size > 0 and in_file >= end, f"{name}: extents do not ascend")
        end = in_file + size
        require(end <= e.file_bytes, f"{name}: an extent ends beyond the file")
        require(in_content + size <= data_bytes, f"{name}: an extent ends beyond the data")


def check_entries(entries, data_bytes):
    types = {b"": FOLDER}
    for i, e in enumerate(entries):
        is_root = i == 0 and e.type == FOLDER and e.path == b""
        check_entry(e, data_bytes, is_root)
        if e.type == STREAM:
            require(len(entries) == 1, "a stream is not alone")
        if e.type == STREAM or is_root:
            continue
        require(e.path not in types, f"{e.path!r} occurs twice")
        folder = e.path.rpartition(b"/")[0]
        require(types.get(folder) == FOLDER, f"{e.path!r} is not below a folder")
        types[e.path] = e.type
    extents = sorted((at, size) for e in entries for _, at, size in e.extents)
    for (at, size), (following, _) in zip(extents, extents[1:]):
        require(at + size <= following, "extents overlap in the content")
