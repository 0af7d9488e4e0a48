#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operator goes back to older generations: generations.py CALPE FAULTS

Updates, lost directories, repair, add-parity, forget, keys and kills at any call of an update:
every generation that info lists restores exactly what was protected, without any one directory.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, IO, LOST,  # noqa: E402, pylint: disable=wrong-import-position
                     USAGE, expect)

KILLS = 40


class Operator:
    def __init__(self, calpe, faults, folder, chance):
        self.calpe, self.faults, self.folder, self.chance = calpe, faults, folder, chance
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "large").write_bytes(chance.randbytes(60000))
        self.disks = [folder / name for name in "abc"]
        self.states = {}  # generation: files
        self.options = []
        self.restores = 0
        self.edits = 0

    def protect(self, *more):
        outputs = [word for disk in self.disks for word in ("-o", disk)]
        self.calpe.must(GOOD, "protect", self.source, "--data", 4, "--parity", 2, "--block-bytes",
                        1024, *outputs, *self.options, *more)
        self.record()

    def set_info(self, disks=None):
        done = self.calpe.run("info", *(disks or self.disks), "--json")
        return json.loads(done.text)["sets"][0]

    def record(self):
        files = {path.name: path.read_bytes() for path in self.source.iterdir()}
        self.states[self.set_info()["set"]["generation"]] = files

    def edit(self):
        """Bytes change in place, a file comes or goes."""
        self.edits += 1
        with open(self.source / "large", "r+b") as large:
            large.seek(self.chance.randrange(50000))
            large.write(self.chance.randbytes(10))
        os.utime(self.source / "large", ns=(10**18 + self.edits * 10**9,) * 2)
        extra = self.source / "extra"
        if extra.exists():
            extra.unlink()
        else:
            extra.write_bytes(self.chance.randbytes(30000))

    def update(self, *more):
        self.edit()
        self.calpe.must(GOOD, "update", self.source, *self.disks, "--allow-removing", 100,
                        *self.options, *more)
        self.record()

    def restored(self, disks, generation=None):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        choice = [] if generation is None else ["--generation", generation]
        self.calpe.must(GOOD, "restore", *disks, "-o", out, *choice)
        self.restores += 1
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def generations(self, disks=None):
        one = self.set_info(disks)
        return [one["set"]["generation"]] + [
            older["generation"] for older in one["older_generations"]]

    def expect_all(self, count, disks=None):
        """Restores all generations, then again without each one of the directories."""
        disks = disks or self.disks
        found = self.generations(disks)
        expect(len(found) == count, f"{len(found)} generations; expected {count}")
        for lost in [None, *disks]:
            rest = [disk for disk in disks if disk != lost]
            for generation in found:
                expect(self.restored(rest, generation) == self.states[generation],
                       f"generation {generation} without {lost} is another one")

    def undo_files(self):
        return [path for path in command.read_files(*self.disks) if path.suffix == ".undo"]

    def keep_and_forget(self):
        self.protect()
        self.calpe.must(USAGE, "restore", *self.disks, "-o", self.folder / "out", "--generation",
                        "previous")
        self.update()
        self.expect_all(2)
        self.update()
        self.expect_all(2)
        self.update("--keep", 3)
        self.update("--keep", 3)
        self.expect_all(3)
        self.calpe.must(USAGE, "restore", *self.disks, "-o", self.folder / "out", "--generation", 7)
        newest, previous, oldest = self.generations()
        expect(self.restored(self.disks, "previous") == self.states[previous], "not the previous")
        expect(self.restored(self.disks) == self.states[newest], "not the newest")
        self.calpe.must(GOOD, "verify", *self.disks, "--generation", previous)
        self.calpe.must(LOST, "restore", self.disks[0], "-o", self.folder / "out", "--generation",
                        oldest)
        before = command.read_files(*self.disks)
        self.calpe.must(USAGE, "forget", *self.disks, "--generation", newest)
        self.calpe.must(USAGE, "forget", *self.disks, "--generation", 0)
        self.calpe.must(USAGE, "forget", *self.disks)
        expect(command.read_files(*self.disks) == before, "a refused forget changed the set")
        self.calpe.must(GOOD, "forget", *self.disks, "--generation", oldest)
        self.expect_all(2)
        self.calpe.must(GOOD, "forget", *self.disks, "--keep", 1)
        self.expect_all(1)
        expect(not self.undo_files(), "forget left journals")
        self.calpe.must(GOOD, "verify", *self.disks)
        command.write_files(before, *self.disks)

    def repair(self):
        """Journals are lost with a directory, and alone."""
        new = self.folder / "d"
        shutil.rmtree(self.disks[1])
        self.disks[1] = new
        new.mkdir()
        self.calpe.must(GOOD, "repair", *self.disks)
        self.expect_all(3)
        self.calpe.must(GOOD, "verify", *self.disks)
        for victim in self.undo_files()[::3]:
            content = victim.read_bytes()
            for damaged in (None, content[:-1], content[:5000] + b"??" + content[5002:]):
                victim.unlink()
                if damaged is not None:
                    victim.write_bytes(damaged)
                self.calpe.must(DAMAGED, "verify", *self.disks)
                self.calpe.must(GOOD, "repair", *self.disks)
                self.calpe.must(GOOD, "verify", *self.disks)
        self.expect_all(3)

    def repair_in_part(self):
        """The shards are repaired, but a directory is in the way of the undo journals."""
        shard = next(path for path in command.read_files(*self.disks) if path.suffix == ".calpe")
        obstacle = self.undo_files()[0].with_suffix(".undo.new")
        for options in ([], ["--json"]):
            content = bytearray(shard.read_bytes())
            content[len(content) // 2] ^= 1
            shard.write_bytes(content)
            obstacle.mkdir()
            done = self.calpe.must(IO, "repair", *self.disks, *options)
            obstacle.rmdir()
            expect(obstacle.name in done.errors, f"the cause is not in {done.errors}")
            if options:
                report = json.loads(done.text)
                expect(report["files_changed"] == [str(shard)], f"repair: {report}")
                expect(obstacle.name in report["older_generations_error"], f"repair: {report}")
            else:
                expect(f"repaired {shard}" in done.text, f"repair: {done.text}")
        self.calpe.must(GOOD, "verify", *self.disks)
        self.expect_all(3)

    def few_descriptors(self):
        """The command raises the soft limit: 30 shards are open at the same time."""
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, limits[1]))
        try:
            self.calpe.must(GOOD, "protect", self.source, "--data", 20, "--parity", 10,
                            "-o", self.folder / "many")
            self.calpe.must(GOOD, "verify", self.folder / "many")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    def lose_a_generation(self):
        """Too many journals are lost, but no shard: the newest is good, and forget clears up."""
        before = command.read_files(*self.disks)
        for path in self.undo_files():
            if path.parent != self.disks[0]:
                path.unlink()
        self.calpe.must(DAMAGED, "verify", *self.disks)
        generations = self.generations()
        done = self.calpe.must(GOOD, "repair", *self.disks)
        expect("can no longer be restored" in done.errors, f"repair: {done.errors}")
        for generation in generations[1:]:
            self.calpe.must(LOST, "restore", *self.disks, "-o", self.folder / "none",
                            "--generation", generation)
        expect(not (self.folder / "none").exists(), "a lost generation was restored")
        expect(f"calpe forget --generation {generations[1]} removes it" in done.errors,
               f"repair: {done.errors}")
        self.calpe.must(GOOD, "forget", *self.disks, "--generation", generations[1])
        self.calpe.must(GOOD, "verify", *self.disks)
        self.expect_all(1)
        command.write_files(before, *self.disks)

    def more_parity(self):
        before = command.read_files(*self.disks)
        self.calpe.must(GOOD, "add-parity", *self.disks, "--parity", 3)
        self.record()
        self.expect_all(4)
        self.update()
        self.expect_all(2)
        command.write_files(before, *self.disks)

    def update_killed_at(self, before, call):
        log = self.folder / "log"
        command.write_files(before, *self.disks)
        done = self.calpe.run(
            "update", self.source, *self.disks, "--allow-removing", 100, "--jobs", 1, "--keep", 3,
            environment={**os.environ, "LD_PRELOAD": self.faults, "CALPE_FAULT_KIND": "kill",
                         "CALPE_FAULT_ROOT": str(self.folder), "CALPE_FAULT_AT": str(call),
                         "CALPE_FAULT_LOG": str(log)})
        expect(done.returncode == (-signal.SIGKILL if call else GOOD), f"update: {done.errors}")
        return int(log.read_text().split()[0])

    def kill(self):
        before = command.read_files(*self.disks)
        old = self.generations()
        self.edit()
        files = {path.name: path.read_bytes() for path in self.source.iterdir()}
        calls = self.update_killed_at(before, 0)
        for call in range(1, calls + 1, 1 if command.is_nightly() else max(1, calls // KILLS)):
            self.update_killed_at(before, call)
            found = self.generations()
            if found != old:
                expect(found[1:len(old)] == old[:-1], f"call {call}: {found}, before {old}")
                self.states[found[0]] = files
            lost = self.disks[call % 3]
            for generation in found[:3]:  # a fourth is being removed
                rest = [disk for disk in self.disks if disk != lost]
                expect(self.restored(rest, generation) == self.states[generation],
                       f"call {call}: generation {generation} is another one")
            self.calpe.must(GOOD, "repair", *self.disks)
            self.calpe.must(GOOD, "forget", *self.disks, "--keep", 3)
            self.calpe.must(GOOD, "verify", *self.disks)
            left = {path.suffix for path in command.read_files(*self.disks)}
            expect(left == {".calpe", ".undo"}, f"call {call}: repair left {left}")
        return calls

    def start_over(self):
        self.protect("--overwrite")
        expect(not self.undo_files(), "protect --overwrite left journals")

    def with_key(self):
        key = self.folder / "key"
        key.write_bytes(bytes(32))
        key.chmod(0o600)
        self.disks = [self.folder / name for name in ("x", "y", "z")]
        self.options = ["--key-file", key]
        self.protect()
        self.update()
        self.update("--keep", 3)
        for generation in self.generations():
            out = self.folder / "out"
            shutil.rmtree(out)
            shutil.rmtree(self.disks[0], ignore_errors=True)
            self.calpe.must(GOOD, "restore", *self.disks[1:], "-o", out, "--generation", generation,
                            *self.options)
            found = {path.name: path.read_bytes() for path in out.iterdir()}
            expect(found == self.states[generation], f"generation {generation} is another one")
        self.disks[0].mkdir()
        self.calpe.must(GOOD, "repair", *self.disks, *self.options)
        self.calpe.must(GOOD, "verify", *self.disks, "--generation", "previous", *self.options)
        self.expect_all(3)

    def run(self):
        self.keep_and_forget()
        self.repair()
        self.repair_in_part()
        self.few_descriptors()
        self.lose_a_generation()
        self.more_parity()
        calls = self.kill()
        self.start_over()
        self.with_key()
        return f"{self.restores} restores, {calls} calls of an update"


def main():
    calpe = command.Calpe(sys.argv[1])
    return command.run_with_seed(
        "generations",
        lambda folder, chance: Operator(calpe, sys.argv[2], folder, chance).run(), fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
