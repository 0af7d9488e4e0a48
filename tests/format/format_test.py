#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second reader and writer against each other and against docs/format.md. Run by ctest."""
import dataclasses
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import unittest

import reader
import roots
import shard_format as fmt
import writer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "files"))
import trees  # noqa: E402, pylint: disable=wrong-import-position

FORMAT = (HERE.parent.parent / "docs" / "format.md").read_text(encoding="utf-8")
SHAPES = [("hybrid", 4, 2, 0), ("hybrid", 1, 1, 0), ("cauchy", 3, 3, 0), ("vandermonde", 5, 2, 0),
          ("lch", 6, 5, 0), ("lrc", 6, 4, 2), ("raid6", 7, 2, 0)]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="calpe-format-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.chance = random.Random(self.id())
        self.tree = self.folder / "tree"
        trees.random_tree(self.tree, self.chance, 8000)
        (self.tree / "some").write_bytes(self.chance.randbytes(6000))
        self.expected = trees.snapshot(self.tree)

    def write(self, **options):
        return writer.write(self.tree, [self.folder / "one", self.folder / "two"], **options)

    def found(self):
        return reader.choose_set([self.folder / "one", self.folder / "two"])

    def assert_restores(self):
        out = self.folder / "out"
        reader.restore(self.found(), out)
        self.assertIsNone(trees.difference(self.expected, trees.snapshot(out)))
        shutil.rmtree(out)


class Specification(unittest.TestCase):
    def test_header_table_is_the_one_that_the_reader_has(self):
        table = FORMAT.split("\n## Header\n")[1].split("\nCode families:")[0]
        rows = re.findall(r"^\| (\d+) \| (\d+) \| ([^|]+) \|", table, re.M)
        documented = [(int(at), int(size), name.strip()) for at, size, name in rows]
        self.assertEqual(documented, [field[:3] for field in fmt.HEADER_FIELDS])

    def test_families_are_numbered_as_documented(self):
        numbers = dict(re.findall(r"(\d+) `([a-z0-9-]+)`", FORMAT))
        self.assertEqual({int(n): name for n, name in numbers.items()}, fmt.FAMILIES)


class Shards(Folder):
    def test_any_k_shards_restore_the_tree(self):
        for family, k, m, groups in SHAPES:
            with self.subTest(family=family, k=k, m=m):
                paths = self.write(family=family, k=k, m=m, local_groups=groups, block_bytes=1024)
                self.assertEqual(reader.verify(self.found()), ([], []))
                losses = m - groups if groups else m
                for path in self.chance.sample(paths, losses):
                    path.unlink()
                self.assert_restores()
                shutil.rmtree(self.folder / "one")
                shutil.rmtree(self.folder / "two", ignore_errors=True)

    def test_every_shard_may_be_damaged_while_stripes_keep_k_good_blocks(self):
        paths = self.write(k=4, m=2, block_bytes=512)
        header = self.found().header
        shards = [bytearray(path.read_bytes()) for path in paths]
        for stripe in range(header.stripes):
            for i in self.chance.sample(range(6), 2):
                shards[i][header.block_offset(stripe) + self.chance.randrange(512)] ^= 0x10
        for path, shard in zip(paths, shards):
            path.write_bytes(shard)
        problems, lost = reader.verify(self.found())
        self.assertEqual((len(problems), lost), (2 * header.stripes, []))
        self.assert_restores()
        shards[0][header.block_offset(1)] ^= 1
        shards[1][header.block_offset(1)] ^= 1
        shards[2][header.block_offset(1)] ^= 1
        for path, shard in zip(paths, shards):
            path.write_bytes(shard)
        self.assertEqual(reader.verify(self.found())[1], [1])

    def test_blocks_of_other_places_are_not_taken(self):
        paths = self.write(k=2, m=1, block_bytes=256)
        header = self.found().header
        raw = bytearray(paths[0].read_bytes())
        self.assertGreater(header.stripes, 3)
        # Stripe 2 with its checksum in the place of stripe 1.
        for place in (header.block_offset, header.checksum_offset):
            size = 256 if place == header.block_offset else 8
            raw[place(1):place(1) + size] = raw[place(2):place(2) + size]
        paths[0].write_bytes(raw)
        self.assertEqual(reader.verify(self.found()), (["stripe 1: block 0 is damaged"], []))

    def test_shards_are_found_whatever_they_are_called(self):
        paths = self.write(k=3, m=2, block_bytes=1024)
        os.rename(paths[0], self.folder / "one" / "holiday.jpg")
        raw = bytearray(paths[1].read_bytes())
        raw[:4096] = bytes(4096)  # the other header is enough
        paths[1].write_bytes(raw)
        paths[2].write_bytes(paths[2].read_bytes()[:-4096 - 700])
        self.assert_restores()

    def test_a_set_that_was_never_complete_is_none(self):
        part = self.write(k=3, m=2, block_bytes=1024)[1]
        part.rename(self.folder / "part")
        shutil.rmtree(self.folder / "two")
        self.write(k=3, m=2, block_bytes=1024)
        (self.folder / "part").rename(self.folder / "one" / ".calpe-x-s001.part")
        self.assert_restores()

    def test_an_older_generation_is_left_alone(self):
        uuid = bytes(range(16))
        stale = self.write(k=3, m=2, block_bytes=1024, uuid=uuid)[1]
        stale = stale.rename(self.folder / "stale")
        (self.tree / "new").write_bytes(b"new")
        self.expected = trees.snapshot(self.tree)
        paths = self.write(k=3, m=2, block_bytes=1024, uuid=uuid, generation=2)
        os.replace(stale, paths[1])
        self.assertEqual(self.found().header.generation, 2)
        self.assert_restores()


class Roots(Folder):
    KEY = b"sixteen bytes or more"

    def forge(self, path, stripe):
        """A block and its checksum."""
        shard = reader.open_shard(path)
        h, raw = shard.header, bytearray(shard.raw)
        at, place = h.block_offset(stripe), h.checksum_offset(stripe)
        raw[at] ^= 1
        block = bytes(raw[at:at + h.block_bytes])
        raw[place:place + 8] = h.block_checksum(stripe, h.index, block).to_bytes(8, "little")
        path.write_bytes(raw)

    def test_roots_of_every_shape_are_good(self):
        for k, m in ((1, 1), (2, 1), (3, 2), (4, 4), (6, 5)):
            with self.subTest(k=k, m=m):
                self.write(k=k, m=m, block_bytes=256, key=self.KEY)
                self.assertEqual(reader.verify(self.found(), self.KEY), ([], []))
                self.assertEqual(reader.verify(self.found(), self.KEY + b"\n"),
                                 (["HMAC is not of this key"], []))
                shutil.rmtree(self.folder / "one")
                shutil.rmtree(self.folder / "two", ignore_errors=True)

    def test_a_forged_block_does_not_match_its_root(self):
        paths = self.write(k=3, m=2, block_bytes=256, with_root=True)
        self.forge(paths[4], 1)
        found = self.found()
        self.assertEqual(roots.problems_of(found), [f"{paths[4]}: does not match its root"])
        self.assertEqual(roots.problems_of(found, self.KEY), ["there is no HMAC"])

    def test_a_header_that_says_something_else_is_not_in_the_set(self):
        paths = self.write(k=3, m=2, block_bytes=256, with_root=True)
        for path in paths:
            shard = reader.open_shard(path)
            own = fmt.header_to_bytes(dataclasses.replace(shard.header, name=b"evil"))
            path.write_bytes(own + shard.raw[4096:-4096] + own)
        self.assertEqual(len(roots.problems_of(self.found())), 5)


class Hostile(Folder):
    def header(self):
        self.write(k=3, m=2, block_bytes=1024)
        return self.found().header

    def test_every_byte_of_a_header_is_checked(self):
        raw = fmt.header_to_bytes(self.header())
        for at in list(range(0, 800)) + [2000, 4087, 4088, 4095]:
            changed = bytearray(raw)
            changed[at] ^= 1
            with self.assertRaises(fmt.FormatError):
                fmt.parse_header(bytes(changed))

    def test_contradictions_are_refused_behind_a_good_checksum(self):
        header = self.header()
        bad = {
            "generation": [0], "index": [5, 65535], "block_bytes": [0, 65, 1 << 25],
            "stripes": [0, header.stripes + 1, (1 << 64) - 1], "content_bytes": [0, (1 << 64) - 1],
            "manifest_offset": [0, (1 << 64) - 1], "manifest_bytes": [0, 1 << 33],
            "family": [0, 7, 14, 200], "k": [0, 255, 65535], "m": [0, 65535],
            "polynomial": [0, 0xFF, 0x200], "local_groups": [1], "matrix_hash": [0],
            "name": [b"a/b", b"a\0b", b".."], "root_kind": [3], "shard_root": [b"x" * 32],
            "set_root": [b"x" * 32], "hmac": [b"x" * 32], "path": [b"x" + bytes(255)],
        }
        for field, values in bad.items():
            for value in values:
                changed = dataclasses.replace(header, **{field: value})
                with self.subTest(field=field, value=value), self.assertRaises(fmt.FormatError):
                    fmt.parse_header(fmt.header_to_bytes(changed))

    def test_manifests_that_break_a_rule_are_refused(self):
        def file(path, *extents, size=100):
            return fmt.Entry(fmt.FILE, path, file_bytes=size, extents=list(extents))
        good = [fmt.Entry(fmt.FOLDER, b"d"), file(b"d/f", (0, 0, 10), (20, 10, 5))]
        fmt.parse_manifest(fmt.manifest_to_bytes(good), 15)
        bad = [
            [file(b"../f")], [file(b"/f")], [file(b"a//f")], [file(b"./f")], [file(b"")],
            [file(b"d/f")], [file(b"f"), file(b"f")], [file(b"f"), file(b"f/g")],
            [fmt.Entry(fmt.LINK, b"l", b"/etc"), file(b"l/f")], [fmt.Entry(fmt.LINK, b"l")],
            [file(b"f", (0, 0, 10), (5, 10, 5))], [file(b"f", (0, 0, 10), (10, 9, 5))],
            [file(b"f", (95, 0, 10))], [file(b"f", (0, 10, 6))], [file(b"f", (0, 0, 0))],
            [file(b"f", (0, 0, 10)), file(b"g", (0, 5, 10))], [fmt.Entry(9, b"f")],
            [fmt.Entry(fmt.STREAM, b""), file(b"f")], [fmt.Entry(fmt.FILE, b"f", mode=0o10000)],
            [fmt.Entry(fmt.FILE, b"f", nanoseconds=10**9)], [fmt.Entry(fmt.FILE, b"f\0")],
            [fmt.Entry(fmt.FOLDER, b"d", file_bytes=1)], [fmt.Entry(fmt.FILE, b"f", b"target")],
        ]
        for entries in bad:
            with self.subTest(entries=entries), self.assertRaises(fmt.FormatError):
                fmt.parse_manifest(fmt.manifest_to_bytes(entries), 15)


if __name__ == "__main__":
    unittest.main()
