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

    def failing(self, root, kind, *options):
        """Every call on files below `root` fails."""
        environment = dict(os.environ, LD_PRELOAD=self.faults, CALPE_FAULT_ROOT=str(root),
                           CALPE_FAULT_KIND=kind, CALPE_FAULT_AT="-1")
        return self.calpe.run("update", self.source, *self.disks, *options,
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
        bad = self.source / "a"
        for source in (self.source, f"{self.source}/"):
            self.source = source
            done = self.failing(bad, "EIO")
            expect(done.returncode == IO and "Input/output error; --exclude leaves it out, and out "
                   "of the new generation of the set\n" in done.errors, done.errors)
            expect("lost disks" not in done.errors and "fix the cause and run it again\n" in
                   done.errors, done.errors)
        done = self.failing(bad, "EIO", "--exclude", "a", "--allow-removing", 60)
        expect(done.returncode == GOOD and "1 removed" in done.text, done.errors)

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
