#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""update ends at any call, then a directory is lost: killed_update.py CALPE FAULTS

If all directories together give the new state, any two of three give it as well, before and after
repair. No journal is ignored that could be the only trace of a committed update.
"""
import json
import os
import pathlib
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, expect)  # noqa: E402, pylint: disable=wrong-import-position

POINTS = 100
OLD, NEW = "version 1\n", "version 2\n"


class KilledUpdate:
    def __init__(self, calpe, faults, folder, chance):
        self.calpe, self.faults, self.folder = calpe, faults, folder
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "data").write_bytes(chance.randbytes(50000))
        (self.source / "version").write_text(OLD)
        self.disks = [folder / name for name in "abc"]
        outputs = [word for disk in self.disks for word in ("-o", disk)]
        calpe.must(GOOD, "protect", self.source, "--data", 4, "--parity", 2, "--block-bytes", 1024,
                   *outputs)
        self.before = command.read_files(*self.disks)
        (self.source / "version").write_text(NEW)
        self.counts = {"old": 0, "new": 0, "restores": 0}

    def update(self, at):
        log = self.folder / "log"
        command.write_files(self.before, *self.disks)
        done = self.calpe.run(
            "update", self.source, *self.disks, "--jobs", 1,
            environment={**os.environ, "LD_PRELOAD": self.faults, "CALPE_FAULT_KIND": "kill",
                         "CALPE_FAULT_ROOT": str(self.folder), "CALPE_FAULT_AT": str(at),
                         "CALPE_FAULT_LOG": str(log)})
        wanted = -signal.SIGKILL if at else GOOD
        expect(done.returncode == wanted, f"update, call {at}: {done.returncode} {done.errors}")
        return int(log.read_text().split()[0])

    def restored(self, disks):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.calpe.must(GOOD, "restore", *disks, "-o", out)
        self.counts["restores"] += 1
        return (out / "version").read_text()

    def check(self, at):
        self.update(at)
        state = command.read_files(*self.disks)
        whole = self.restored(self.disks)
        self.counts["new" if whole == NEW else "old"] += 1
        verified = self.calpe.run("verify", *self.disks, "--json")
        expect(verified.returncode in (GOOD, DAMAGED), f"verify: {verified.errors}")
        may_lose = json.loads(verified.text)["directories_that_may_still_be_lost"]
        expect(may_lose == 1, f"{may_lose} directories may be lost; expected 1")
        for lost in self.disks:
            rest = [disk for disk in self.disks if disk != lost]
            shutil.rmtree(lost)
            states = [self.restored(rest)]
            self.calpe.must(GOOD, "repair", *rest)
            states.append(self.restored(rest))
            # The lost directory returns as it was.
            for path, content in state.items():
                if path.parent == lost:
                    lost.mkdir(exist_ok=True)
                    path.write_bytes(content)
            states.append(self.restored(self.disks))
            expect(whole == OLD or states == [NEW] * 3,
                   f"call {at}: all directories give {whole!r}, but without {lost.name} {states}")
            command.write_files(state, *self.disks)
        self.calpe.must(GOOD, "repair", *self.disks)
        expect(self.restored(self.disks) == whole, f"call {at}: repair changed the state")
        left = [path.name for path in command.read_files(*self.disks) if path.suffix == ".redo"]
        expect(not left, f"call {at}: repair left {left}")

    def run(self):
        calls = self.update(0)
        step = max(1, calls // POINTS)
        for at in range(1, calls + 1, 1 if command.is_nightly() else step):
            self.check(at)
        expect(self.counts["new"] > 0 and self.counts["old"] > 0, f"{self.counts}")
        return f"{calls} calls: " + ", ".join(f"{n} {what}" for what, n in self.counts.items())


def main():
    calpe = command.Calpe(sys.argv[1])
    return command.run_with_seed(
        "killed_update",
        lambda folder, chance: KilledUpdate(calpe, sys.argv[2], folder, chance).run(),
        fixed_seed=27)


if __name__ == "__main__":
    sys.exit(main())
