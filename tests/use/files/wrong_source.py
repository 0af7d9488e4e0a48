#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`calpe update` with a source that lacks most of the set: wrong_source.py CALPE

A subdirectory, an empty directory (a disk that is not mounted), or empty files: each is refused
with exit code 3, the removed entries are listed, and no byte of the set changes. The percentage
that the error names permits the update. The same for parity of originals.
"""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
import trees  # noqa: E402, pylint: disable=wrong-import-position
from command import GOOD, USAGE, expect  # noqa: E402, pylint: disable=wrong-import-position

FILES = 57


class WrongSources:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.tree = folder / "photos"
        self.disks = [folder / name for name in ("d1", "d2", "d3")]
        self.refused = 0

    def make_tree(self):
        (self.tree / "sub").mkdir(parents=True)
        for number in range(FILES):
            (self.tree / f"f{number:02}").write_bytes(self.chance.randbytes(700 + number))
        for number in range(5):
            (self.tree / "sub" / f"s{number}").write_bytes(self.chance.randbytes(300))

    def sources(self):
        """Yields the name and path of each wrong source."""
        empty = self.folder / "empty"
        empty.mkdir()
        yield "a subdirectory", self.tree / "sub"
        yield "an empty directory", empty
        cut = self.folder / "cut"
        shutil.copytree(self.tree, cut)
        for path in cut.rglob("*"):
            if path.is_file():
                path.write_bytes(b"")
        yield "empty files", cut
        moved = self.folder / "moved"
        shutil.copytree(self.tree, moved / "one folder too far up")
        yield "the parent directory", moved

    def check_refused(self, what, source, places, *more):
        before = command.read_files(*self.disks)
        done = self.calpe.must(USAGE, "update", source, *places, *more)
        expect(command.read_files(*self.disks) == before, f"{what}: the set was changed")
        expect("nothing was changed" in done.errors, f"{what}: it does not say so: {done.errors}")
        found = re.search(r"--allow-removing (\d+) permits", done.errors)
        expect(found, f"{what}: it does not say what permits it: {done.errors}")
        self.refused += 1
        return int(found[1]), done.errors

    def shards(self):
        outputs = [part for disk in self.disks for part in ("-o", disk)]
        self.calpe.must(GOOD, "protect", self.tree, "--data", 4, "--parity", 2, "--block-bytes",
                        256, *outputs)
        kept = command.read_files(*self.disks)
        for what, source in self.sources():
            percent, errors = self.check_refused(what, source, self.disks)
            self.check_refused(what, source, self.disks, "--json")
            self.check_refused(what, source, self.disks, "--checksum")
            if what == "a subdirectory":
                expect("f00, f01" in errors and f"and {FILES + 6 - 20} more" in errors,
                       f"{what}: removed entries are not listed: {errors}")
            planned = self.calpe.must(GOOD, "update", source, *self.disks, "--dry-run", "--json")
            expect(json.loads(planned.stdout)["removed_percent"] == percent,
                   f"{what}: a dry run says another percentage than {percent}: {planned.text}")
            expect("--allow-removing" in planned.errors, f"{what}: a dry run does not say so")
            less = self.calpe.run("update", source, *self.disks, "--allow-removing", percent - 1)
            expect(less.returncode == USAGE, f"{what}: {percent - 1} % permits {percent} %")
            self.calpe.must(GOOD, "update", source, *self.disks, "--allow-removing", percent)
            self.calpe.must(GOOD, "restore", *self.disks, "-o", self.folder / "out")
            different = trees.difference(trees.snapshot(source),
                                         trees.snapshot(self.folder / "out"))
            expect(different is None, f"{what}, permitted: {different}")
            shutil.rmtree(self.folder / "out")
            command.write_files(kept, *self.disks)
        for path in sorted(self.tree.iterdir())[:FILES // 2]:  # less than half: allowed
            path.unlink()
        self.calpe.must(GOOD, "update", self.tree, *self.disks)

    @staticmethod
    def files_of(tree):
        """Ignores times of directories, which existing ones do not get."""
        seen = trees.snapshot(tree)
        return {path: what for path, what in seen.items() if what[0] == "file"}

    def originals(self):
        """Existing parity can still restore vanished files, so it must not be replaced."""
        parity = self.disks[0]
        shutil.rmtree(parity)
        self.calpe.must(GOOD, "protect", self.tree, "--keep-original", "--data", 2, "--parity", 2,
                        "--block-bytes", 256, "-o", parity)
        whole = self.files_of(self.tree)
        self.check_refused("originals: a subdirectory", self.tree / "sub", [parity])
        aside = self.folder / "aside"
        self.tree.rename(aside)
        self.tree.mkdir()
        self.check_refused("originals: an empty directory", self.tree, [parity])
        self.calpe.must(GOOD, "repair", parity, "--original", self.tree)
        different = trees.difference(whole, self.files_of(self.tree))
        expect(different is None, f"originals: not all were put back: {different}")

    def run(self):
        self.make_tree()
        self.shards()
        self.originals()
        return f"{self.refused} updates refused"


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "wrong_source", lambda folder, chance: WrongSources(calpe, folder, chance).run(),
        fixed_seed=25)


if __name__ == "__main__":
    sys.exit(main())
