#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random edits of a tree, and `calpe update` after each: update.py CALPE

Files are added, deleted, grown, shrunk, overwritten, renamed and touched, with other modes, holes,
links, empty files, and files that became directories. Each time the set must be good, also for the
second reader, and restore the current tree, also without m shards. 40 updates; 600 with
CALPE_NIGHTLY=1.
"""
import json
import os
import pathlib
import shutil
import sys

import command
import trees
from command import GOOD, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import reader  # noqa: E402, pylint: disable=wrong-import-position

SHAPES = [("default", 4, 2), ("default", 10, 4), ("default", 1, 2), ("cauchy", 3, 3),
          ("raid6", 5, 2), ("vandermonde-zfec", 6, 3)]
UPDATES_EACH = 8


class Edits:
    """Each method changes the tree in one way. Every edit changes times unless noted."""

    def __init__(self, tree, chance):
        self.tree, self.chance, self.ticks = tree, chance, 0
        self.needs_checksum = False

    def entries(self, *kinds):
        found = {"file": [], "folder": [], "link": []}
        for parent, folders, files in os.walk(self.tree):
            for name in folders + files:
                path = os.path.join(parent, name)
                is_folder = os.path.isdir(path)
                kind = "link" if os.path.islink(path) else "folder" if is_folder else "file"
                found[kind].append(path)
        return sorted(path for kind in kinds for path in found[kind])

    def pick(self, *kinds):
        found = self.entries(*kinds)
        return self.chance.choice(found) if found else None

    def new_path(self):
        folder = self.chance.choice([str(self.tree), *self.entries("folder")])
        self.ticks += 1
        return os.path.join(folder, f"new{self.ticks}{self.chance.choice(trees.NAMES)}")

    def tick(self, path):
        self.ticks += 1
        time = 2 * 10**18 + self.ticks * 1001
        os.utime(path, ns=(time, time), follow_symlinks=False)

    def add_file(self):
        path = self.new_path()
        trees.make_file(path, self.chance, self.chance.choice(trees.SIZES))
        self.tick(path)

    def add_folder(self):
        path = self.new_path()
        os.mkdir(path)
        if self.chance.random() < 0.5:
            trees.make_file(os.path.join(path, "inside"), self.chance, 3000)

    def add_link(self):
        os.symlink(self.chance.choice(["nowhere", "..", "/etc/passwd"]), self.new_path())

    def retarget(self):
        if path := self.pick("link"):
            os.unlink(path)
            os.symlink("somewhere else", path)

    def delete(self):
        path = self.pick("file", "folder", "link")
        if path is None:
            return
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def change_size(self, change):
        if path := self.pick("file"):
            os.chmod(path, 0o644)
            os.truncate(path, max(0, os.path.getsize(path) + change))
            self.tick(path)

    def grow(self):
        if path := self.pick("file"):
            os.chmod(path, 0o644)
            with open(path, "ab") as out:
                out.write(self.chance.randbytes(self.chance.choice([1, 64, 700, 9000])))
            self.tick(path)

    def shrink(self):
        self.change_size(-self.chance.choice([1, 64, 700, 9000]))

    def grow_by_a_hole(self):
        self.change_size(self.chance.choice([1, 5000, 100000]))

    def overwrite(self, is_silent=False):
        path = self.pick("file")
        if path is None or os.path.getsize(path) == 0:
            return
        about = os.stat(path)
        os.chmod(path, 0o644)
        with open(path, "r+b") as out:
            out.seek(self.chance.randrange(about.st_size))
            out.write(self.chance.randbytes(self.chance.choice([1, 1, 100])))
            out.truncate(about.st_size)
        if is_silent:
            os.utime(path, ns=(about.st_mtime_ns, about.st_mtime_ns))
            self.needs_checksum = True
        else:
            self.tick(path)

    def overwrite_silently(self):
        self.overwrite(is_silent=True)

    def replace(self):
        if path := self.pick("file"):
            os.unlink(path)
            trees.make_file(path, self.chance, self.chance.choice(trees.SIZES))
            self.tick(path)

    def rename(self):
        path = self.pick("file", "folder", "link")
        target = self.new_path()
        if path is not None and not target.startswith(path + "/"):
            os.rename(path, target)

    def touch(self):
        if path := self.pick("file", "folder", "link"):
            self.tick(path)

    def change_mode(self):
        if path := self.pick("file"):
            os.chmod(path, self.chance.choice([0o644, 0o600, 0o755, 0o711]))

    def become_other(self):
        """Turns a file into a directory, or a directory into a file."""
        if path := self.pick("file", "folder"):
            if os.path.isdir(path):
                shutil.rmtree(path)
                trees.make_file(path, self.chance, 500)
            else:
                os.unlink(path)
                os.mkdir(path)

    def delete_nearly_all(self):
        for path in self.entries("file")[1:]:
            os.unlink(path)

    def run(self):
        self.needs_checksum = False
        usual = [self.add_file, self.add_folder, self.add_link, self.retarget, self.delete,
                 self.grow, self.shrink, self.grow_by_a_hole, self.overwrite, self.replace,
                 self.rename, self.touch, self.change_mode, self.become_other]
        seldom = [self.overwrite_silently, self.delete_nearly_all]
        for _ in range(self.chance.randrange(1, 5)):
            self.chance.choice(seldom if self.chance.random() < 0.06 else usual)()


class Updates:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.tree, self.out = folder / "tree", folder / "out"
        self.targets = [folder / "one", folder / "two", folder / "three"]
        self.counts = {"updates": 0, "of nothing": 0, "stripes by delta": 0,
                       "stripes by encoding": 0}

    def check_same(self, text):
        different = trees.difference(trees.snapshot(self.tree), trees.snapshot(self.out))
        expect(different is None, f"{text}: {different}")
        shutil.rmtree(self.out)

    def update(self, *more):
        done = self.calpe.must(GOOD, "update", self.tree, *self.targets, "--json", "--replace-all",
                               "--jobs", self.chance.randrange(1, 4), *more)
        return json.loads(done.stdout)

    def check_set(self, m):
        left = [path for path in command.read_files(*self.targets)
                if path.suffix not in (".calpe", ".undo")]
        expect(not left, f"update left {left}")
        self.calpe.must(GOOD, "verify", *self.targets, "--deep")
        found = reader.choose_set(self.targets)
        expect(reader.verify(found) == ([], []), "the reader finds an updated set damaged")
        reader.restore(found, self.out)
        self.check_same("restored by the reader")
        self.calpe.must(GOOD, "restore", *self.targets, "-o", self.out)
        self.check_same("restored")
        whole = command.read_files(*self.targets)
        for path in self.chance.sample(sorted(whole), m):
            path.unlink()
        self.calpe.must(GOOD, "restore", *self.targets, "-o", self.out)
        self.check_same(f"restored without {m} shards")
        command.write_files(whole, *self.targets)
        return found.header.generation

    def one_tree(self, shape):
        profile, k, m = shape
        trees.random_tree(self.tree, self.chance, 30000)
        outputs = [part for target in self.targets for part in ("-o", target)]
        self.calpe.must(GOOD, "protect", self.tree, "--data", k, "--parity", m, "--profile",
                        profile, "--block-bytes", self.chance.choice([64, 256, 4096]), *outputs)
        generation = 1
        edits = Edits(self.tree, self.chance)
        for _ in range(UPDATES_EACH):
            edits.run()
            planned = self.update("--dry-run", "--checksum")
            more = ["--checksum"] if edits.needs_checksum or self.chance.random() < 0.2 else []
            done = self.update(*more)
            is_any = any(done[key] for key in ("added", "changed", "removed", "metadata"))
            expect(done["added"] == planned["added"] and done["removed"] == planned["removed"],
                   "a dry run reports something else")
            after = self.check_set(m)
            expect(after > generation if is_any else after == generation,
                   f"generation {after} after {generation}, changed: {is_any}")
            generation = after
            again = self.update()
            expect(not any(again[key] for key in ("added", "changed", "removed", "metadata")),
                   f"a second update found changes: {again}")
            self.counts["updates"] += 1
            self.counts["of nothing"] += not is_any
            self.counts["stripes by delta"] += done["stripes_by_delta"]
            self.counts["stripes by encoding"] += done["stripes_by_encode"]
        for folder in (self.tree, *self.targets):
            shutil.rmtree(folder)

    def run(self, updates):
        while self.counts["updates"] < updates:
            self.one_tree(self.chance.choice(SHAPES))
        expect(self.counts["stripes by delta"] > 0 and self.counts["stripes by encoding"] > 0,
               f"one method was never used: {self.counts}")
        return ", ".join(f"{count} {what}" for what, count in self.counts.items())


def main():
    calpe = command.program_from_arguments()
    updates = 600 if command.is_nightly() else 40
    return command.run_with_seed(
        "update", lambda folder, chance: Updates(calpe, folder, chance).run(updates))


if __name__ == "__main__":
    sys.exit(main())
