#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A protect that replaces a set was killed between two renames: killed_overwrite.py CALPE

Makes the state after each rename by hand. Whatever advice verify and info print, all data of the
old or of the new set is still there after it was followed.
"""
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, USAGE,  # noqa: E402, pylint: disable=wrong-import-position
                     expect)

SHARDS = 3
NEEDED = ("of an interrupted command, which needs them; run calpe repair with all directories of "
          "the set\n")


class KilledOverwrite:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.source = folder / "s"
        self.source.mkdir()
        self.disks = [folder / f"d{number}" for number in range(SHARDS)]
        self.outputs = [word for disk in self.disks for word in ("-o", disk)]
        self.protect_again = ["protect", self.source, "--data", 2, "--parity", 1, *self.outputs]
        self.old, self.old_uuid = self.made(b"old")
        self.new, self.new_uuid = self.made(b"new")

    def made(self, version):
        """Protects this version; returns the shards in order, and the UUID."""
        (self.source / "version").write_bytes(version)
        (self.source / "data").write_bytes(self.chance.randbytes(50000))
        for disk in self.disks:
            shutil.rmtree(disk, ignore_errors=True)
        self.calpe.must(GOOD, *self.protect_again)
        said = json.loads(self.calpe.must(GOOD, "verify", *self.disks, "--json").text)
        return [self.shard(number).read_bytes() for number in range(SHARDS)], said["set"]["uuid"]

    def shard(self, number):
        return self.disks[number] / f"s.s{number:03}.calpe"

    def hidden(self, number, ending):
        return self.disks[number] / f".calpe-{self.new_uuid}-s{number:03}{ending}"

    def set_state(self, step):
        """The state after `step` renames: the old shards aside, then the new ones in place."""
        files = {}
        for number in range(SHARDS):
            files[self.hidden(number, ".old") if number < step else
                  self.shard(number)] = self.old[number]
            files[self.shard(number) if number + SHARDS < step else
                  self.hidden(number, ".part")] = self.new[number]
        command.write_files(files, *self.disks)

    def restored(self, *more):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.calpe.must(GOOD, "restore", *self.disks, "-o", out, *more)
        return (out / "version").read_bytes()

    def replaced(self, step):
        self.set_state(step)
        for verb in ("verify", "info"):
            done = self.calpe.run(verb, *self.disks)
            expect("or remove" not in done.errors, f"step {step}: {done.errors}")
            wanted = NEEDED if 0 < step < 2 * SHARDS else "run the same protect again\n"
            expect(step == 2 * SHARDS or wanted in done.errors, f"step {step}: {done.errors}")
        expect(self.restored() == (b"old" if step == 0 else b"new"), f"step {step}")
        self.calpe.must(GOOD, *self.protect_again, "--overwrite")
        expect(self.restored() == b"new", f"step {step}: protected again")
        self.set_state(step)
        if step > 0:
            self.calpe.must(GOOD, "repair", *self.disks)
            expect(self.restored() == b"new", f"step {step}: repaired")

    def all_shards(self):
        return {path for disk in self.disks for path in disk.iterdir()}

    def repaired(self, step):
        """repair removes the replaced set, so that it is not found when a disk is lost."""
        self.set_state(step)
        done = self.calpe.must(GOOD, "repair", *self.disks)
        expect("removed " in done.text, f"step {step}: {done.text}")
        expect(self.all_shards() == {self.shard(number) for number in range(SHARDS)},
               f"step {step}: {sorted(self.all_shards())}")
        whole = command.read_files(*self.disks)
        for lost in self.disks:
            shutil.rmtree(lost)
            lost.mkdir()
            expect(self.restored() == b"new", f"step {step}: without {lost.name}")
            command.write_files(whole, *self.disks)

    def removed_in_between(self):
        """All states while repair or protect removes the replaced set give the new one."""
        for count in range(SHARDS):
            self.set_state(2 * SHARDS)
            for number in range(count):
                self.hidden(number, ".old").unlink()
            done = self.calpe.must(GOOD, "verify", *self.disks)
            expect(" has 1 replaced shard of an interrupted command; calpe repair" in done.errors,
                   done.errors)
            self.calpe.must(GOOD, "repair", *self.disks)
            expect(len(self.all_shards()) == SHARDS, f"{sorted(self.all_shards())}")
            done = self.calpe.must(GOOD, "verify", *self.disks)
            expect("interrupted" not in done.errors, done.errors)

    def replaced_elsewhere(self):
        """A shard of the replaced set in another place is not removed, nor are the others."""
        self.set_state(2)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "mine.calpe").write_bytes(self.old[0])
        done = self.calpe.must(GOOD, "repair", *self.disks, elsewhere)
        expect("removed" not in done.text, done.text)
        expect((elsewhere / "mine.calpe").exists(), "removed a file of the user")
        expect(self.restored() == b"new", "elsewhere")

    def repair_refused(self):
        """The new set cannot be repaired: the old one stays."""
        self.set_state(SHARDS + 1)
        for number in (1, 2):
            path = self.hidden(number, ".part")
            content = bytearray(path.read_bytes())
            content[8192:-8192] = bytes(len(content) - 2 * 8192)
            path.write_bytes(content)
        before = command.read_files(*self.disks)
        expect(self.calpe.run("repair", *self.disks).returncode != GOOD, "repaired")
        expect(command.read_files(*self.disks) == before, "a refused repair changed files")
        expect(self.restored("--uuid", self.old_uuid) == b"old", "the old set was not restored")

    def parts_removed(self):
        """The parts were removed all the same: the old set is found and named."""
        self.set_state(SHARDS + 1)
        for disk in self.disks:
            for part in disk.glob(".calpe-*.part"):
                part.unlink()
        done = self.calpe.must(USAGE, "verify", *self.disks)
        expect("2 sets were found" in done.errors and self.old_uuid in done.errors, done.errors)
        expect(self.restored("--uuid", self.old_uuid) == b"old", "the old set was not restored")

    def some_parts(self):
        """Killed before all parts were complete, or some directories were not named."""
        for disks in ([0], [0, 1]):
            command.write_files({self.hidden(number, ".part"): self.new[number] for number in disks}
                                | {self.shard(number): self.old[number]
                                   for number in range(SHARDS)}, *self.disks)
            done = self.calpe.must(GOOD, "verify", *self.disks)
            expect("unfinished protect; run the same protect again\n" in done.errors, done.errors)
        self.set_state(SHARDS + 1)
        done = self.calpe.run("verify", *self.disks[1:])
        expect(NEEDED in done.errors and "or remove" not in done.errors, done.errors)

    def originals(self):
        """update writes new parity under the same UUID."""
        source, parity = self.folder / "kept", self.folder / "parity"
        source.mkdir()
        (source / "data").write_bytes(self.chance.randbytes(50000))
        self.calpe.must(GOOD, "protect", source, "--keep-original", "--data", 4, "--parity", 2,
                        "-o", parity)
        before = command.read_files(parity)
        (source / "more").write_bytes(b"more")
        self.calpe.must(GOOD, "update", source, parity)
        after = command.read_files(parity)
        done = self.calpe.must(GOOD, "verify", parity, "--original", source, "--json")
        begin = f".calpe-{json.loads(done.text)['set']['uuid']}-s"
        names = sorted(after)

        def hidden(path, ending):
            return parity / (begin + re.search(r"\.s(\d+)\.calpe", path.name)[1] + ending)

        for step in (1, 2, 3):
            files = {}
            for number, path in enumerate(names):
                files[hidden(path, ".old") if number < step else path] = before[path]
                files[path if number + 2 < step else hidden(path, ".part")] = after[path]
            command.write_files(files, parity)
            done = self.calpe.must(DAMAGED, "verify", parity, "--original", source)
            expect(NEEDED in done.errors, f"kept originals, step {step}: {done.errors}")
            self.calpe.must(GOOD, "repair", parity, "--original", source)
            self.calpe.must(GOOD, "verify", parity, "--original", source)
            expect(set(parity.iterdir()) == set(names), f"step {step}: {list(parity.iterdir())}")
        # Killed while it wrote the parts.
        command.write_files(before | {hidden(names[0], ".part"): after[names[0]]}, parity)
        (source / "more").unlink()
        done = self.calpe.run("verify", parity, "--original", source)
        expect("unfinished update; run the same update again\n" in done.errors, done.errors)

    def run(self):
        for step in range(2 * SHARDS + 1):
            self.replaced(step)
            if step > 0:
                self.repaired(step)
        self.removed_in_between()
        self.replaced_elsewhere()
        self.repair_refused()
        self.parts_removed()
        self.some_parts()
        self.originals()
        return f"{2 * SHARDS + 1} states"


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "killed_overwrite", lambda folder, chance: KilledOverwrite(calpe, folder, chance).run(),
        fixed_seed=41)


if __name__ == "__main__":
    sys.exit(main())
