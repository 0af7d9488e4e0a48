#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Returned disks and other states found in use: returned_disks.py CALPE

The later of two independent updates is used. An older generation is restored only on request.
Shards must not be moved away from their journals, and missing shards are reported although nothing
changed.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, IO, LOST,  # noqa: E402, pylint: disable=wrong-import-position
                     expect)

ROUNDS = 6  # random generations would order half of them wrong


class Disks:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder = calpe, folder
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "data").write_bytes(chance.randbytes(30000))
        self.set_version(1)

    def set_version(self, number):
        (self.source / "version").write_text(f"version {number}\n")

    def disk(self, name):
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def disks(self, names):
        return [self.disk(name) for name in names]

    def take_away(self, names):
        for name in names:
            self.disk(name).rename(self.disk("away") / name)

    def bring_back(self, names):
        for name in names:
            (self.disk("away") / name).rename(self.folder / name)

    def protect(self, names, *options):
        outputs = [word for disk in self.disks(names) for word in ("-o", disk)]
        self.calpe.must(GOOD, "protect", self.source, "--block-bytes", 1024, *options, *outputs)

    def update(self, number, names):
        self.set_version(number)
        self.calpe.must(GOOD, "update", self.source, *self.disks(names))

    def restored(self, names, *options, code=GOOD):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = self.calpe.must(code, "restore", *self.disks(names), "-o", out, *options)
        return done, (out / "version").read_text() if code == GOOD else None

    def forget(self):
        for path in self.folder.iterdir():
            if path != self.source:
                shutil.rmtree(path)
        self.set_version(1)

    # --- the cases
    def later_update_wins(self):
        self.protect("abcd", "--data", 2, "--parity", 2)
        self.take_away("cd")
        self.calpe.must(GOOD, "repair", *self.disks("abef"))
        self.update(2, "abef")
        self.bring_back("cd")
        self.take_away("bef")
        done, _ = self.restored("acd", code=LOST)
        expect("--older" in done.errors, f"an older state: {done.errors}")
        _, version = self.restored("acd", "--older")
        expect(version == "version 1\n", f"--older gave {version}")
        done = self.calpe.must(LOST, "verify", *self.disks("acd"), "--json")
        told = json.loads(done.text)
        expect(told["newer_generation_lost"] and told["state"] == "lost",
               "verify calls an older state good")
        self.calpe.must(GOOD, "repair", *self.disks("acd"))
        self.update(3, "acd")
        self.calpe.must(GOOD, "verify", *self.disks("acd"))
        self.bring_back("bef")
        _, version = self.restored("abcdef")
        expect(version == "version 3\n", f"the later update is lost: {version}")

    def missing_shards_are_noted(self):
        self.protect("abc", "--data", 4, "--parity", 2)
        for path in self.disk("b").iterdir():
            path.unlink()
        for options in ((), ("--dry-run",), ("--checksum",)):
            done = self.calpe.must(DAMAGED, "update", self.source, *self.disks("abc"), *options)
            expect("2 of 6 shards are missing" in done.errors, done.errors)

    def repair_again(self):
        """The same repair again finds the shard that it put into the -o directory."""
        self.protect("abc", "--data", 2, "--parity", 1)
        shutil.rmtree(self.disk("c"))
        other = self.folder / "other"
        other.write_bytes(b"another set")
        self.calpe.must(GOOD, "protect", other, "--data", 2, "--parity", 1, "-o", self.disk("d"))
        before = set(self.disk("d").iterdir())
        again = ["repair", *self.disks("ab"), "-o", self.disk("d")]
        for wanted in ("repaired, ", "nothing to repair.\n", "nothing to repair.\n"):
            done = self.calpe.must(GOOD, *again)
            expect(wanted in done.text, f"expected {wanted!r}: {done.text}")
            created = set(self.disk("d").iterdir()) - before
            expect(len(created) == 1, f"{created}")
        shard = created.pop()
        content = shard.read_bytes()
        shard.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.calpe.must(GOOD, *again)
        expect(shard.read_bytes() == content, "a damaged shard in the -o directory was not used")
        other.unlink()

    def output_that_cannot_be_written(self):
        self.protect("a", "--data", 2, "--parity", 1)
        for arguments in (("verify", "a"), ("verify", "a", "--json"), ("info", "a", "--files"),
                          ("info", "a", "--files", "--json")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                words = [self.folder / word if word == "a" else word for word in arguments]
                code = subprocess.run(self.calpe.arguments(*words), stdout=full,
                                      stderr=subprocess.DEVNULL, check=False).returncode
            expect(code == IO, f"{arguments} to a full disk: exit {code}")

    def list_of_files_may_not_be_lost(self):
        empty = self.folder / "empty"
        empty.mkdir()
        original = empty / "e"
        original.write_bytes(b"")
        outputs = [word for disk in self.disks("ab") for word in ("-o", disk)]
        self.calpe.must(GOOD, "protect", original, "--data", 4, "--parity", 2, "--keep-original",
                        *outputs)
        done = self.calpe.must(GOOD, "verify", *self.disks("ab"), "--original", original)
        expect("any 1 of 3 directories" in done.text, done.text)

    def link_to_nothing(self):
        self.disk("a")
        (self.disk("a") / "s.s000.calpe").symlink_to("nowhere")
        done = self.calpe.run("protect", self.source, "--name", "s", "--data", 2, "--parity", 1,
                              "--overwrite", "-o", self.disk("a"))
        expect(done.returncode != GOOD and "another calpe" not in done.errors, done.errors)


def work(calpe, folder, chance):
    disks = Disks(calpe, folder, chance)
    for _ in range(ROUNDS):
        disks.later_update_wins()
        disks.forget()
    for case in (disks.missing_shards_are_noted, disks.repair_again,
                 disks.output_that_cannot_be_written,
                 disks.list_of_files_may_not_be_lost, disks.link_to_nothing):
        case()
        disks.forget()
    return f"{ROUNDS} later updates, and 5 other states"


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "returned_disks", lambda folder, chance: work(calpe, folder, chance), fixed_seed=25)


if __name__ == "__main__":
    sys.exit(main())
