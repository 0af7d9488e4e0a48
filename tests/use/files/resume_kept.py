#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""restore --resume keeps only files whose bytes are those of the set: resume_kept.py CALPE

Files of the right size and time but with other bytes, or of another generation, are refused without
--overwrite, and nothing is written. With a root or key, too.
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (GOOD, LOST, USAGE,  # noqa: E402, pylint: disable=wrong-import-position
                     expect)

BYTES = 500_000


class Kept:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.source, self.out = folder / "s", folder / "o"
        self.disks = [folder / name for name in ("d1", "d2", "d3")]
        self.source.mkdir()
        for name in ("f1", "f2", "f3"):
            (self.source / name).write_bytes(chance.randbytes(BYTES))
        with open(self.source / "sparse", "wb") as file:
            file.seek(3_000_000)
            file.write(b"end")
            file.truncate(6_000_000)
        (self.source / "link").symlink_to("f1")
        outputs = [word for disk in self.disks for word in ("-o", disk)]
        calpe.must(GOOD, "protect", self.source, "--data", 2, "--parity", 1, "--root",
                   "--block-bytes", 4096, *outputs)

    def restore(self, code, *options):
        return self.calpe.must(code, "restore", *self.disks, "-o", self.out, *options)

    def root(self):
        verified = self.calpe.must(GOOD, "verify", *self.disks, "--json")
        return json.loads(verified.text)["set"]["root"]

    def change(self, name, offset):
        """Changes a byte and keeps the time."""
        path = self.out / name
        about = path.stat()
        with open(path, "r+b") as file:
            file.seek(offset)
            old = file.read(1)
            file.seek(offset)
            file.write(bytes([old[0] ^ 1]))
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))

    def check(self):
        for name in ("f1", "f2", "f3", "sparse"):
            expect((self.out / name).read_bytes() == (self.source / name).read_bytes(),
                   f"{name} is not restored")
        expect(os.readlink(self.out / "link") == "f1", "the link is not restored")

    def other_bytes(self):
        self.restore(GOOD)
        done = self.restore(GOOD, "--resume", "--expect-root", self.root())
        expect("5 already complete" in done.text, done.text)
        for name, offset in (("f1", 0), ("f2", BYTES - 1), ("sparse", 1_000_000),
                             ("sparse", 3_000_001), ("sparse", 5_999_999)):
            self.change(name, offset)
            (self.out / "f3").unlink()
            for options in ((), ("--expect-root", self.root()), ("--root-check",)):
                done = self.restore(USAGE, "--resume", *options)
                expect(f"{name} has the size and time of the protected file, but other bytes; use "
                       "--overwrite to replace it" in done.errors, done.errors)
                expect(not (self.out / "f3").exists(), "a file was written before the check")
            done = self.restore(GOOD, "--resume", "--overwrite", "--expect-root", self.root())
            expect("3 already complete" in done.text, done.text)
            self.check()

    def link(self):
        about = (self.out / "link").lstat()
        (self.out / "link").unlink()
        (self.out / "link").symlink_to("f2")
        os.utime(self.out / "link", ns=(about.st_atime_ns, about.st_mtime_ns),
                 follow_symlinks=False)
        self.restore(USAGE, "--resume")
        self.restore(GOOD, "--resume", "--overwrite")
        self.check()

    def generation(self):
        """A file of the same size and time in two generations."""
        about = (self.source / "f2").stat()
        old = (self.source / "f2").read_bytes()
        (self.source / "f2").write_bytes(self.chance.randbytes(BYTES))
        os.utime(self.source / "f2", ns=(about.st_atime_ns, about.st_mtime_ns))
        self.calpe.must(GOOD, "update", self.source, *self.disks, "--checksum")
        self.restore(GOOD, "--generation", "previous", "--overwrite")
        expect((self.out / "f2").read_bytes() == old, "not the previous generation")
        done = self.restore(USAGE, "--resume")
        expect("f2 has the size and time" in done.errors, done.errors)
        self.restore(GOOD, "--resume", "--overwrite")
        self.check()

    def single_file(self):
        out = self.folder / "alone"
        out.mkdir()
        for options, code in (((), GOOD), (("--resume",), GOOD)):
            self.calpe.must(code, "restore", *self.disks, "-o", out, "--only", "f1", *options)
        source, disk = self.folder / "one", self.folder / "d"
        source.write_bytes(self.chance.randbytes(BYTES))
        self.calpe.must(GOOD, "protect", source, "--data", 2, "--parity", 1, "-o", disk)
        self.out = self.folder / "copy"
        self.disks = [disk]
        self.restore(GOOD)
        expect("1 already complete" in self.restore(GOOD, "--resume").text, "not kept")
        self.change("", 77)
        self.restore(USAGE, "--resume")
        self.restore(GOOD, "--resume", "--overwrite")
        expect(self.out.read_bytes() == source.read_bytes(), "not restored")

    def lost(self):
        """A kept file that the set can no longer prove is reported as lost, and stays."""
        shards = [next(disk.glob("*.calpe")) for disk in self.disks]
        kept = {shard: shard.read_bytes() for shard in shards[:2]}
        for shard in shards[:2]:
            with open(shard, "r+b") as file:
                file.seek(4096 + 3 * 4096)
                file.write(b"X" * 4096)
        done = self.restore(LOST, "--resume", "--json")
        lost = json.loads(done.text)["lost"]
        expect([file["path"] for file in lost] == ["f1"], f"{lost}")
        for shard, whole in kept.items():
            shard.write_bytes(whole)
        self.check()


def main():
    calpe = command.program_from_arguments()

    def work(folder, chance):
        kept = Kept(calpe, folder, chance)
        kept.other_bytes()
        kept.link()
        kept.generation()
        kept.lost()
        kept.single_file()
        return "kept files are compared"

    return command.run_with_seed("resume_kept", work, fixed_seed=34)


if __name__ == "__main__":
    sys.exit(main())
