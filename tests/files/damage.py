#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Protects and damages random trees with the real command: damage.py CALPE

After each damage, verify must return the exit code that comparing bytes gives, restore must give
the tree or name the stripes, and repair must restore the shards byte for byte. 30 trees; 200 with
CALPE_NIGHTLY=1. damage_test.cpp applies hundreds of thousands of damages.
"""
import pathlib
import shutil
import sys

import command
import trees
from command import DAMAGED, GOOD, LOST, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import shard_format as fmt  # noqa: E402, pylint: disable=wrong-import-position

SHAPES = [("default", 4, 2), ("default", 10, 4), ("default", 3, 5), ("cauchy", 2, 2),
          ("vandermonde", 6, 3), ("hybrid", 1, 2)]
ROUNDS = 6


class Damaged:
    """Damaged shards by path."""

    def __init__(self, whole, stale, chance):
        self.files, self.stale, self.chance = dict(whole), stale, chance
        self.header = next(iter(whole.values()))[:fmt.HEADER_BYTES]

    def lost(self, path):
        del self.files[path]

    def truncated(self, path):
        self.files[path] = self.files[path][:self.chance.randrange(len(self.files[path]))]

    def swapped(self, path):
        other = self.chance.choice(sorted(self.files))
        self.files[path], self.files[other] = self.files[other], self.files[path]

    def made_stale(self, path):
        self.files[path] = self.stale[path]

    def bit_flipped(self, path):
        raw = bytearray(self.files[path])
        for _ in range(self.chance.randrange(1, 4)):
            raw[self.chance.randrange(len(raw))] ^= 1 << self.chance.randrange(8)
        self.files[path] = bytes(raw)

    def shifted(self, path):
        raw, at = self.files[path], self.chance.randrange(len(self.files[path]))
        count = self.chance.randrange(1, 100)
        middle = b"" if self.chance.random() < 0.5 else bytes(count)
        self.files[path] = raw[:at] + middle + raw[at + (0 if middle else count):]

    def appended(self, path):
        self.files[path] += self.chance.randbytes(self.chance.randrange(1, 5000))

    def zeroed(self, path):
        raw, at = self.files[path], self.chance.randrange(len(self.files[path]))
        count = min(len(raw) - at, self.chance.randrange(1, 20000))
        self.files[path] = raw[:at] + bytes(count) + raw[at + count:]

    def renamed(self, path):
        self.files[path.with_name(f"holiday{len(self.files)}.jpg")] = self.files.pop(path)

    def moved_block(self, path):
        """Copies a block with its checksum from elsewhere in this or another shard."""
        header = fmt.parse_header(self.header)
        source = self.files[self.chance.choice(sorted(self.files))]
        raw, stripes = bytearray(self.files[path]), range(header.stripes)
        from_stripe, to_stripe = self.chance.choice(stripes), self.chance.choice(stripes)
        for place, size in ((header.block_offset, header.block_bytes), (header.checksum_offset, 8)):
            piece = source[place(from_stripe):place(from_stripe) + size]
            raw[place(to_stripe):place(to_stripe) + len(piece)] = piece
        self.files[path] = bytes(raw)

    DAMAGES = [lost, truncated, swapped, made_stale, bit_flipped, shifted, appended, zeroed,
               renamed, moved_block]

    def damage(self):
        """Returns the name of the damage."""
        paths = [path for path, raw in self.files.items() if raw]
        if not paths:
            return "nothing left"
        path = self.chance.choice(sorted(paths))
        kind = self.chance.choice(self.DAMAGES)
        if kind is Damaged.made_stale and path not in self.stale:
            kind = Damaged.lost
        kind(self, path)
        return kind.__name__

    def damage_stripes(self, m, more):
        """Damages m blocks of every stripe, and `more` further ones in one stripe."""
        paths = sorted(self.files)
        raws = [bytearray(self.files[path]) for path in paths]
        header = fmt.parse_header(self.header)
        beyond = self.chance.randrange(header.stripes)
        names = []
        for stripe in range(header.stripes):
            for raw in self.chance.sample(raws, m + (more if stripe == beyond else 0)):
                raw[header.block_offset(stripe) + self.chance.randrange(header.block_bytes)] ^= 4
                names.append("block")
        self.files = {path: bytes(raw) for path, raw in zip(paths, raws)}
        return names


def good_stripes(raw, shard, header):
    """Returns the stripes whose block and checksum are in the file. Allows for inserted or removed
    bytes if the end of the file tells how many."""
    back = raw[-fmt.HEADER_BYTES:] == shard[-fmt.HEADER_BYTES:]
    if not back and raw[:fmt.HEADER_BYTES] != shard[:fmt.HEADER_BYTES]:
        return None
    shift = len(raw) - len(shard) if back else 0

    def holds(at, size, by):
        return at + by >= 0 and raw[at + by:at + by + size] == shard[at:at + size]

    good = set()
    for stripe in range(header.stripes):
        block, checksum = header.block_offset(stripe), header.checksum_offset(stripe)
        for by, checksum_by in ((0, 0), (0, shift), (shift, shift)):
            if holds(block, header.block_bytes, by) and holds(checksum, 8, checksum_by):
                good.add(stripe)
    return good


class Expected:
    """The expected reports, from comparing the damaged files with the originals."""

    def __init__(self, files, shards):
        self.header = fmt.parse_header(shards[0][:fmt.HEADER_BYTES])
        found = []
        for shard in shards:
            copies = [good_stripes(raw, shard, self.header) for raw in files.values()]
            copies = [good for good in copies if good is not None]
            found.append(set().union(*copies) if copies else None)
        self.present = sum(1 for good in found if good is not None)
        self.lost = [stripe for stripe in range(self.header.stripes)
                     if sum(1 for good in found if good and stripe in good) < self.header.k]
        self.is_whole = set(shards) <= set(files.values())

    def exit_code(self):
        if self.lost:
            return LOST
        return GOOD if self.is_whole else DAMAGED


def without_times(snapshot):
    """Files that were filled with zeros get the time of the restore."""
    return {path: seen[:2] + seen[3:] if seen[0] == "file" else seen
            for path, seen in snapshot.items()}


class Campaign:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.targets = [folder / "one", folder / "two", folder / "three"]
        self.counts = {"damages": 0, "sets": 0, "lost": 0, "repaired": 0}

    def protect(self, tree, shape, block_bytes):
        profile, k, m = shape
        command.write_files({}, *self.targets)
        outputs = [part for target in self.targets for part in ("-o", target)]
        self.calpe.must(GOOD, "protect", tree, "--name", "set", "--data", k, "--parity", m,
                        "--profile", profile, "--block-bytes", block_bytes, *outputs)
        return command.read_files(*self.targets)

    def one_tree(self):
        shape, block_bytes = self.chance.choice(SHAPES), self.chance.choice([64, 512, 4096])
        tree = self.folder / "tree"
        trees.random_tree(tree, self.chance, 30000)
        stale = self.protect(tree, shape, block_bytes)
        (tree / "new").write_bytes(b"newer")
        whole = self.protect(tree, shape, block_bytes)
        # An update would keep the uuid. Without one this is a separate set, which the uuid
        # distinguishes.
        uuid = fmt.parse_header(next(iter(whole.values()))[:fmt.HEADER_BYTES]).uuid.hex()
        seen = trees.snapshot(tree)
        for number in range(ROUNDS):
            damaged = Damaged(whole, stale, self.chance)
            most = 1 if self.chance.random() < 0.3 else 2 * shape[2] + 1
            names = [damaged.damage() for _ in range(self.chance.randrange(1, most + 1))]
            if number < 2:  # as much per stripe as can be repaired, then one block more
                damaged = Damaged(whole, stale, self.chance)
                names = damaged.damage_stripes(shape[2], number)
            self.counts["damages"] += len(names)
            try:
                self.one_damaged(damaged.files, list(whole.values()), seen, uuid)
            except command.Failure as failure:
                raise command.Failure(f"{shape} blocks of {block_bytes}, {names[:20]}: {failure}")
        shutil.rmtree(tree)

    def one_damaged(self, files, shards, seen, uuid):
        self.counts["sets"] += 1
        expected = Expected(files, shards)
        command.write_files(files, *self.targets)
        uuid = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
        places = [*self.targets, "--uuid", uuid]
        out = self.folder / "out"
        if expected.present == 0:
            done = self.calpe.run("restore", *places, "-o", out)
            expect(done.returncode not in (GOOD, DAMAGED), "restored from nothing")
            expect(not out.exists(), "a failed restore left something")
            return
        self.calpe.must(expected.exit_code(), "verify", *places)
        expect(command.read_files(*self.targets) == files, "verify wrote something")
        if expected.lost:
            self.counts["lost"] += 1
            self.check_lost(places, files, expected, seen, out)
        else:
            self.counts["repaired"] += 1
            self.check_repaired(places, shards, seen, out)

    def check_lost(self, places, files, expected, seen, out):
        done = self.calpe.must(LOST, "verify", *places)
        first = str(expected.lost[0])
        expect(first in done.text + done.errors, f"verify: no stripe {first}: {done.text}")
        done = self.calpe.must(LOST, "repair", *places)
        expect("stripe" in done.text + done.errors and first in done.text + done.errors,
               f"repair does not name stripe {first}: {done.errors}")
        expect(command.read_files(*self.targets) == files, "repair touched a lost set")
        self.check_partial(places, files, expected, out)
        done = self.calpe.run("restore", *places, "-o", out)
        if done.returncode == GOOD:  # what is lost is not part of a file
            different = trees.difference(seen, trees.snapshot(out))
            shutil.rmtree(out)
            expect(different is None, f"restore reported success, but: {different}")
            return
        expect(done.returncode == LOST, f"restore: exit {done.returncode}: {done.errors[:1000]}")
        is_named = first in done.errors or len(expected.lost) > 1
        if expected.present < expected.header.k:
            is_named = "too few shards" in done.errors
        expect(is_named, f"restore does not name the loss: {done.errors}")
        # Files outside lost stripes may be restored, but none may be wrong.
        for path, what in trees.snapshot(out).items() if out.exists() else []:
            expect(what[0] != "file" or what[3] == seen[path][3], f"{path}: wrong bytes")
        shutil.rmtree(out, ignore_errors=True)

    def check_partial(self, places, files, expected, out):
        """After --partial, the same stripes are lost, and salvage gives the same bytes."""
        if len(expected.lost) == expected.header.stripes:
            self.calpe.must(LOST, "repair", *places, "--partial")
            return
        before = self.calpe.run("restore", *places, "-o", out, "--salvage")
        salvaged = trees.snapshot(out) if out.exists() else {}
        shutil.rmtree(out, ignore_errors=True)
        done = self.calpe.run("repair", *places, "--partial")
        is_any_written = "nothing could be repaired" not in done.text
        expect(done.returncode == (DAMAGED if is_any_written else LOST), done.text + done.errors)
        expect("stay lost" in done.text, done.text)
        done = self.calpe.must(LOST, "verify", *places)
        expect(str(expected.lost[0]) in done.text + done.errors, "verify: no stripe is lost")
        after = self.calpe.run("restore", *places, "-o", out, "--salvage")
        expect(after.returncode == before.returncode, f"salvage: exit {after.returncode}")
        different = trees.difference(without_times(salvaged), without_times(
            trees.snapshot(out) if out.exists() else {}))
        shutil.rmtree(out, ignore_errors=True)
        expect(different is None, f"salvaged after --partial: {different}")
        command.write_files(files, *self.targets)

    def check_repaired(self, places, shards, seen, out):
        self.calpe.must(GOOD, "restore", *places, "-o", out)
        different = trees.difference(seen, trees.snapshot(out))
        shutil.rmtree(out)
        expect(different is None, f"restored: {different}")
        self.calpe.must(GOOD, "repair", *places)
        after = command.read_files(*self.targets)
        expect(set(shards) <= set(after.values()), "not repaired byte for byte")
        self.calpe.must(GOOD, "verify", *places)


def main():
    calpe = command.program_from_arguments()

    def work(folder, chance):
        campaign = Campaign(calpe, folder, chance)
        tree_count = 200 if command.is_nightly() else 30
        for _ in range(tree_count):
            campaign.one_tree()
        return f"{tree_count} trees, " + ", ".join(f"{n} {what}" for what, n in
                                                   campaign.counts.items())

    return command.run_with_seed("damage", work)


if __name__ == "__main__":
    sys.exit(main())
