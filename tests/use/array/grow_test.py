#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operator grows an array onto larger disks while it is served, and the file system on it.

Usage: grow_test.py CALPE PLUGIN
All members are replaced by larger ones, one by one. The server is killed while the array grows, at
moments that differ with each run. A client writes meanwhile.
"""
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, MIB, claim, run, say

SEED = random.randrange(1 << 32)
RANDOM = random.Random(SEED)


def larger(trial, name, size):
    path = trial.folder / name
    with open(path, "wb") as file:
        file.truncate(size)
    return path


def replace_all(trial, size):
    """Replaces each member by a larger one. As many may fail as before, all the time."""
    for role, old in enumerate(trial.members):
        new = larger(trial, f"large{role}-{size // MIB}", size)
        said = trial.array("grow", "--control", trial.control, expected=3)
        claim("the smallest member has" in said and "m" in said, said)
        trial.array("replace", "--member", role, "--with", new, "--control", trial.control)
        claim(trial.status()["may_fail"] == trial.parity, "redundancy was lost")
        trial.array("rebuild", "--control", trial.control)
        claim(trial.status()["may_fail"] == trial.parity, "redundancy was lost")
        unlocked = lambda: subprocess.run(["flock", "--nonblock", old, "true"],
                                          check=False).returncode == 0
        lab.wait_until(unlocked, "the old disk is closed")
        old.unlink()
        trial.members[role] = new


def debugfs(file, *requests):
    script = file.parent / "requests"
    script.write_text("\n".join(requests) + "\n")
    return run("debugfs", "-w", "-f", script, file)


class Files:
    """Files in a file system, written and read without mounting it."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def add(self, device, count):
        for _ in range(count):
            name = f"file{len(self.files)}"
            path = self.folder / name
            path.write_bytes(RANDOM.randbytes(RANDOM.randrange(300_000)))
            self.files[name] = path
            debugfs(device, f"write {path} {name}")

    def check(self, device):
        run("e2fsck", "-fn", device)
        for name, path in self.files.items():
            out = self.folder / "dumped"
            debugfs(device, f"dump {name} {out}")
            claim(out.read_bytes() == path.read_bytes(), f"{name} has other bytes")


class Writer(threading.Thread):
    """Writes and reads its own blocks at the start of the array until the server ends."""

    def __init__(self, trial, bytes_at):
        super().__init__()
        self.client, self.at, self.rounds, self.wrong = trial.client(), bytes_at, 0, ""
        self.size = self.client.get_size()
        self.durable = None
        self.is_ending = False

    def run(self):
        import nbd
        try:
            while not self.is_ending:
                block = self.rounds.to_bytes(8, "little") * 512
                self.client.pwrite(block, self.at)
                self.client.flush()
                self.durable = self.rounds
                if self.client.pread(4096, self.at) != block:
                    self.wrong = "other bytes"
                self.rounds += 1
        except nbd.Error as error:
            if self.is_ending is False:
                self.wrong = str(error)


def grow_and_kill(trial, size, at):
    """Returns whether the array has grown. The last durable write is there."""
    before = trial.status()["bytes"]
    writer = Writer(trial, at)
    writer.start()
    lab.wait_until(lambda: writer.rounds > 2, "the client writes")
    growing = subprocess.Popen([trial.calpe, "array", "grow", "--size", str(size), "--control",
                                trial.control], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(RANDOM.uniform(0, 0.08))
    writer.is_ending = None  # errors are expected
    trial.kill()
    growing.communicate()
    writer.join()
    claim(writer.wrong == "", writer.wrong)
    said = trial.array("status", *trial.members)
    trial.start("take-spares=no")
    now = trial.status()["bytes"]
    claim(now in (before, size), f"{before} -> {now} of {size}: {said}")
    client = trial.client()
    found = int.from_bytes(client.pread(8, at), "little")
    claim(found >= writer.durable, f"round {found}, but {writer.durable} was durable")
    claim(client.pread(4096, at) == found.to_bytes(8, "little") * 512, "a torn block")
    claim(client.get_size() == now, "the size of a new connection")
    if now == size:
        claim(client.pread(size - before, before) == bytes(size - before), "not zeros")
    client.shutdown()
    claim(growing.returncode != 0 or now == size, "acknowledged, but not grown")
    return now == size


def check_online(trial):
    """Larger disks, growth under load, and the file system on top."""
    trial.start("take-spares=no")
    small = trial.status()["bytes"]
    files = Files(trial.folder)
    with trial.fuse() as device:
        run("mkfs.ext4", "-q", "-F", "-b", 4096, device, small // 4096 - 8)
        files.add(device, 6)
        files.check(device)
    replace_all(trial, 12 * MIB)
    said = trial.array("grow", "--dry-run", "--control", trial.control)
    claim("can grow from" in said and trial.status()["bytes"] == small, said)

    # Killed at several moments. Each time the array has the old or the new size.
    stripe = 2 * 8 * KIB
    grown = []
    size = small + 10 * stripe
    for _ in range(6):
        grown.append(grow_and_kill(trial, size, small - 4096))
        if grown[-1]:
            size += 10 * stripe
        if len([one for one in grown if one]) == 3:
            break
    say(f"killed {len(grown)} times, grown {sum(grown)} times")

    # Not killed: the connection keeps its size, the next one has the new size.
    writer = Writer(trial, small - 4096)
    old_size = writer.size
    writer.start()
    said = trial.array("grow", "--control", trial.control)
    claim("has grown from" in said and "when they connect again" in said, said)
    rounds = writer.rounds
    lab.wait_until(lambda: writer.rounds > rounds + 2 or writer.wrong, "the client writes on")
    writer.is_ending = True
    writer.join()
    claim(writer.wrong == "", writer.wrong)
    claim(writer.client.get_size() == old_size, "a connection changed its size")
    writer.client.shutdown()
    now = trial.status()["bytes"]
    claim(now > 3 * small, f"{small} -> {now}")
    claim(trial.status()["may_fail"] == trial.parity, trial.status())
    with trial.fuse() as device:
        claim(device.stat().st_size == now, "the size of a new connection")
        files.check(device)
        run("resize2fs", device, now // 4096)
        files.add(device, 20)
        files.check(device)
    said = trial.array("scrub", "--control", trial.control)
    claim("found 0 wrong blocks" in said, said)
    trial.stop()
    log = (trial.folder / "log").read_text()
    claim("the array has grown from" in log, log)
    return files


def check_offline(trial, files):
    """Files that were made larger, without a server; then two members are lost."""
    before = trial.array("status", "--json", *trial.members)
    said = trial.array("grow", *trial.members, expected=3)
    claim("the smallest member has" in said, said)
    claim(trial.array("status", "--json", *trial.members) == before, "a refusal changed something")
    for path in trial.members:
        with open(path, "r+b") as file:
            file.truncate(16 * MIB)
    said = trial.array("grow", "--dry-run", "--json", *trial.members)
    claim(trial.array("status", "--json", *trial.members) == before, "a dry run changed something")
    claim(trial.array("grow", "--json", *trial.members) == said, said)
    # Volumes that grow under a server.
    trial.start("take-spares=no")
    before = trial.status()["bytes"]
    for path in trial.members:
        with open(path, "r+b") as file:
            file.truncate(20 * MIB)
    trial.array("grow", "--control", trial.control)
    claim(trial.status()["bytes"] > before, "the larger files were not noticed")
    trial.stop()
    trial.start(members=trial.members[trial.parity:])
    with trial.fuse() as device:
        files.check(device)
    trial.stop()
    say("grown without a server, and after files were made larger; read without two members")


def main():
    print(f"seed {SEED}")
    lab.need("nbdkit", "nbdfuse", "mkfs.ext4", "debugfs", "resize2fs", "e2fsck", "flock")
    with lab.Lab(data=2, parity=2, member=3 * MIB,
                 more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        check_offline(trial, check_online(trial))
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
