#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What update proposes after an error of the system: update_errors.py CALPE FAULTS"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import GOOD, IO, expect  # noqa: E402, pylint: disable=wrong-import-position


class Updates:
    def __init__(self, calpe, faults, folder, chance):
        self.calpe, self.faults = calpe, faults
        self.source = folder / "source"
        self.source.mkdir()
        for name in "ab":
            (self.source / name).write_bytes(chance.randbytes(30000))
        self.disks = [folder / name for name in ("d1", "d2", "d3")]
        outputs = [word for disk in self.disks for word in ("-o", disk)]
        calpe.must(GOOD, "protect", self.source, "--data", 2, "--parity", 1, *outputs)
        (self.source / "a").write_bytes(chance.randbytes(31000))

    def failing(self, root, kind, *options, source=None, at=-1):
        """Call number `at` on files below `root` fails, or every one."""
        environment = dict(os.environ, LD_PRELOAD=self.faults, CALPE_FAULT_ROOT=str(root),
                           CALPE_FAULT_KIND=kind, CALPE_FAULT_AT=str(at))
        return self.calpe.run("update", source or self.source, *self.disks, *options,
                              environment=environment)

    def full_disk(self):
        done = self.failing(self.disks[1], "ENOSPC")
        expect(done.returncode == IO and "No space left on device" in done.errors, done.errors)
        expect("free some space and run it again; calpe forget removes older generations, and "
               "--keep 1 keeps none\n" in done.errors, done.errors)

    def lost_disk(self):
        done = self.failing(self.disks[1], "EIO")
        expect("--exclude" not in done.errors, done.errors)

    def unreadable_file(self):
        for source in (self.source, f"{self.source}/"):
            named = 0
            for at in range(1, 40):
                done = self.failing(self.source, "EIO", "--checksum", source=source, at=at)
                if done.returncode == GOOD:
                    continue
                expect(done.returncode == IO and "lost disks" not in done.errors, done.errors)
                expect("fix the cause and run it again\n" in done.errors, done.errors)
                is_below = f" {self.source}/" in done.errors
                expect(is_below == ("; --exclude leaves it out, and out of the new generation of "
                                    "the set\n" in done.errors), done.errors)
                named += is_below
            expect(named > 0, "no file of the source failed")
        done = self.calpe.must(GOOD, "update", self.source, *self.disks, "--exclude", "a",
                               "--allow-removing", 60)
        expect("1 removed" in done.text, done.text)

    def no_source(self):
        done = self.calpe.must(IO, "update", pathlib.Path(self.source) / "none", *self.disks)
        expect("lost disks" not in done.errors and "--exclude" not in done.errors, done.errors)


def main():
    calpe = command.program_from_arguments()

    def work(folder, chance):
        updates = Updates(calpe, sys.argv[2], folder, chance)
        updates.full_disk()
        updates.lost_disk()
        updates.no_source()
        updates.unreadable_file()
        return "the advice fits"

    return command.run_with_seed("update_errors", work, fixed_seed=35)


if __name__ == "__main__":
    sys.exit(main())
