#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options of the file commands that do not change the result: options.py CALPE

--io on every verb that has it, sets that replace larger ones, small streams, files in the way,
remote locations.
"""
import json
import subprocess
import sys

import command
from command import GOOD, USAGE, expect


class Options:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.source = folder / "data"
        self.source.write_bytes(chance.randbytes(3_000_000))

    def protect(self, target, *more):
        return self.calpe.must(GOOD, "protect", self.source, "--data", 4, "--parity", 2, "-o",
                               target, "--json", *more)

    def check_io(self):
        for io in ("threads", "uring"):
            target = self.folder / io
            done = self.calpe.run("protect", self.source, "--data", 4, "--parity", 2, "-o", target,
                                  "--io", io)
            if io == "uring" and done.returncode == USAGE:
                expect("--io uring: " in done.errors, done.errors)
                return "no io_uring here"
            expect(done.returncode == GOOD, done.errors)
            for shard in sorted(target.iterdir())[1:3]:
                shard.unlink()
            self.calpe.must(1, "verify", target, "--io", io)
            self.calpe.must(GOOD, "repair", target, "--io", io)
            self.calpe.must(GOOD, "verify", target, "--io", io, "--deep")
            back = self.folder / f"back-{io}"
            self.calpe.must(GOOD, "restore", target, "-o", back)
            expect(back.read_bytes() == self.source.read_bytes(), f"{io}: restored")
        self.calpe.must(USAGE, "verify", self.folder / "threads", "--io", "smoke")
        return "io_uring and threads"

    def check_replaced(self):
        """Removes all files of the replaced set, and none of another."""
        target = self.folder / "replaced"
        self.calpe.must(GOOD, "protect", self.source, "--data", 6, "--parity", 3, "-o", target)
        stranger = target / "data.s099.calpe"
        shard = (self.folder / "threads" / "data.s000.calpe").read_bytes()
        stranger.write_bytes(shard)
        done = self.protect(target, "--overwrite")
        left = sorted(path.name for path in target.iterdir())
        expect(left == [f"data.s00{i}.calpe" for i in range(6)] + [stranger.name], f"{left}")
        notes = json.loads(done.text)["notes"]
        expect(any(str(stranger) in note for note in notes), f"{notes}")

    def check_streams(self):
        """Small streams get small blocks, and streams of any size are restored."""
        for size in (0, 1, 1000, 4 * 65536 - 60, 4 * 65536, 4 * 65536 + 1, 700_000):
            data = self.source.read_bytes()[:size]
            target = self.folder / f"stream-{size}"
            done = subprocess.run(
                self.calpe.arguments("protect", "-", "--data", 4, "--parity", 2, "-o", target,
                                     "--json"), input=data, capture_output=True, check=False)
            expect(done.returncode == GOOD, done.stderr)
            block_bytes = json.loads(done.stdout)["set"]["block_bytes"]
            # The manifest has about 90 bytes.
            expect((block_bytes == 65536) == (size > 4 * 65536 - 200), f"{size}: {block_bytes}")
            expect(size > 1000 or block_bytes <= 512, f"{size}: {block_bytes}")
            back = subprocess.run(self.calpe.arguments("restore", target, "-o", "-"),
                                  capture_output=True, check=True).stdout
            expect(back == data, f"{size} bytes of a stream were restored as {len(back)}")

    def check_in_the_way(self):
        file = self.folder / "there"
        file.write_bytes(b"mine")
        done = self.calpe.must(USAGE, "restore", self.folder / "threads", "-o", file)
        expect("exists; use --overwrite" in done.errors, done.errors)
        expect(file.read_bytes() == b"mine", "replaced an existing file")

    def check_remote(self):
        """No verb takes a remote for a directory "s3:"."""
        for remote in ("s3://bucket/photos", "rclone:drive:photos", "gs://bucket"):
            refused = (f"{remote}: this command works on local directories; use calpe remote for "
                       f"remote places, or write ./{remote} for a local "
                       "directory of that name")
            for words in (("protect", self.source, "--data", 4, "--parity", 2, "-o", remote),
                          ("verify", remote), ("repair", remote), ("info", remote),
                          ("restore", remote, "-o", self.folder / "remote")):
                done = self.calpe.must(USAGE, *words)
                expect(refused in done.errors, done.errors)
        target = f"{self.folder}/./s3://bucket"
        self.protect(target)
        self.calpe.must(GOOD, "verify", target)

    def run(self):
        self.check_remote()
        engines = self.check_io()
        self.check_replaced()
        self.check_streams()
        self.check_in_the_way()
        return engines


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "options", lambda folder, chance: Options(calpe, folder, chance).run(), in_memory=False)


if __name__ == "__main__":
    sys.exit(main())
