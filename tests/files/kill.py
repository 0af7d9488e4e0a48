#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments of protect, repair, update and add-parity: kill.py CALPE

Afterwards the old or the new state must exist: what could be restored before can still be restored,
leftovers are harmless, and the next run works. 40 kills; 300 with CALPE_NIGHTLY=1. (This does not
show the effect of a power failure on unsynced bytes.)
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import command
import trees
from command import DAMAGED, GOOD, LOST, USAGE, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import reader  # noqa: E402, pylint: disable=wrong-import-position

K, M = 4, 2
FILE_BYTES = 2_000_000


def without_folder_times(seen):
    """Ignores times of directories, as a killed repair has put files into them."""
    return {path: what[:2] if what[0] == "folder" else what for path, what in seen.items()}


class Kills:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.targets = [folder / "one", folder / "two"]
        self.counts = {"killed": 0, "came too late": 0, "old state": 0, "new state": 0}
        self.trees = []
        for name in ("old", "new"):
            tree = folder / name
            trees.random_tree(tree, chance)
            (tree / "large").write_bytes(chance.randbytes(FILE_BYTES))
            self.trees.append((tree, trees.snapshot(tree)))
        self.disks = [folder / "disk 1", folder / "disk 2", folder / "disk 3"]  # m shards each
        self.edited = folder / "edited"
        self.edit_tree()

    def edit_tree(self):
        """Changes little, so that most changed stripes use the delta."""
        trees.copy_tree(self.trees[0][0], self.edited)
        with open(self.edited / "large", "r+b") as large:
            for _ in range(5):
                large.seek(self.chance.randrange(FILE_BYTES))
                large.write(b"edited")
        os.utime(self.edited / "large", ns=(10**18, 10**18))
        (self.edited / "more").write_bytes(self.chance.randbytes(100_000))

    def protect_arguments(self, tree, *more):
        outputs = [part for target in self.targets for part in ("-o", target)]
        return ["protect", tree, "--name", "set", "--data", K, "--parity", M, "--block-bytes",
                16384, *outputs, *more]

    def restored(self, places):
        """Restores and returns a snapshot."""
        out = self.folder / "out"
        self.calpe.must(GOOD, "restore", *places, "-o", out)
        found = trees.snapshot(out)
        shutil.rmtree(out)
        return found

    def seconds_of(self, arguments):
        started = time.monotonic()
        self.calpe.must(GOOD, *arguments)
        return time.monotonic() - started

    def kill(self, arguments, seconds):
        """Runs the command and kills it at a random moment. True: it was still running."""
        process = subprocess.Popen(self.calpe.arguments(*arguments), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(self.chance.random() * seconds * 1.1)
        process.send_signal(signal.SIGKILL)
        was_killed = process.wait() == -signal.SIGKILL
        self.counts["killed" if was_killed else "came too late"] += 1
        return was_killed

    def protect_again(self, tree, seen):
        """Protects again over the leftovers of a kill."""
        self.calpe.must(GOOD, *self.protect_arguments(tree, "--overwrite"))
        self.calpe.must(GOOD, "verify", *self.targets)
        expect(self.restored(self.targets) == seen, "another tree after protecting again")

    def kill_first_protect(self, seconds):
        """Kills protect in empty targets."""
        command.write_files({}, *self.targets)
        tree, seen = self.trees[0]
        self.kill(self.protect_arguments(tree), seconds)
        done = self.calpe.run("restore", *self.targets, "-o", self.folder / "out")
        if done.returncode == GOOD:
            expect(trees.snapshot(self.folder / "out") == seen, "restored after protect was killed")
            shutil.rmtree(self.folder / "out")
            self.counts["new state"] += 1
        else:
            expect(done.returncode in (LOST, USAGE), f"exit {done.returncode}: {done.errors}")
            shards = [path for path in command.read_files(*self.targets)
                      if path.suffix == ".calpe"]
            expect(not shards, f"shards have their names, but cannot be restored: {done.errors}")
            expect(not (self.folder / "out").exists(), "a restore that failed left something")
            self.counts["old state"] += 1
        self.protect_again(tree, seen)

    def kill_second_protect(self, whole, seconds):
        """Kills protect over an older set of the same name."""
        command.write_files(whole, *self.targets)
        self.kill(self.protect_arguments(self.trees[1][0], "--overwrite"), seconds)
        found = self.restored(self.targets)
        expect(found in [seen for _, seen in self.trees], "neither the old nor the new state")
        self.counts["new state" if found == self.trees[1][1] else "old state"] += 1
        self.protect_again(*self.trees[1])

    def damage(self, whole):
        """Damages two blocks of every stripe, over all shards, and sometimes loses a file."""
        files = {path: bytearray(raw) for path, raw in whole.items()}
        if self.chance.random() < 0.5:
            for path in self.chance.sample(sorted(files), M):
                del files[path]
            return files
        for offset in range(4096, len(next(iter(whole.values()))) - 8192, 16384):
            for path in self.chance.sample(sorted(files), M):
                files[path][offset + self.chance.randrange(16384)] ^= 1
        return files

    def kill_repair(self, whole, seconds):
        seen = self.trees[0][1]
        command.write_files(self.damage(whole), *self.targets)
        self.kill(["repair", *self.targets], seconds)
        done = self.calpe.run("verify", *self.targets)
        expect(done.returncode in (GOOD, DAMAGED), f"after repair was killed: {done.text}")
        self.counts["new state" if done.returncode == GOOD else "old state"] += 1
        expect(self.restored(self.targets) == seen, "restored after repair was killed")
        self.calpe.must(GOOD, "repair", *self.targets)
        self.calpe.must(GOOD, "verify", *self.targets)
        after = command.read_files(*self.targets)  # a lost one may be recreated in another target
        expect(set(whole.values()) <= set(after.values()), "not repaired byte for byte")

    def kill_update(self, whole, seconds):
        """Kills an update to a slightly or completely changed tree; may then lose a disk."""
        command.write_files(whole, *self.disks)
        tree = self.chance.choice([self.edited, self.trees[1][0]])
        old, new = self.trees[0][1], trees.snapshot(tree)
        arguments = ["update", tree, *self.disks, "--allow-removing", 100]
        self.kill(arguments, seconds)
        found = self.restored(self.disks)
        expect(found in (old, new), "neither the old nor the new state after update: "
               f"{trees.difference(old, found)}; {trees.difference(new, found)}")
        self.counts["new state" if found == new else "old state"] += 1
        if self.chance.random() < 0.5:
            command.write_files({}, self.chance.choice(self.disks))
            expect(self.restored(self.disks) in (old, new), "neither old nor new without a disk")
            self.calpe.must(GOOD, "repair", *self.disks)
        elif self.chance.random() < 0.5:
            self.calpe.must(GOOD, "repair", *self.disks)
        self.calpe.must(GOOD, *arguments)
        self.calpe.must(GOOD, "verify", "--deep", *self.disks)
        different = trees.difference(new, self.restored(self.disks))
        expect(different is None, f"updated again after a kill: {different}")
        left = [path for path in command.read_files(*self.disks)
                if path.suffix not in (".calpe", ".undo")]
        expect(not left, f"update left {left}")

    def seconds_of_update(self):
        outputs = [part for disk in self.disks for part in ("-o", disk)]
        self.calpe.must(GOOD, "protect", self.trees[0][0], "--name", "set", "--data", K, "--parity",
                        M, "--block-bytes", 16384, *outputs)
        whole = command.read_files(*self.disks)
        return whole, self.seconds_of(["update", self.trees[1][0], *self.disks,
                                       "--allow-removing", 100])

    def kill_add_parity(self, whole, seconds):
        """Expects the old set or the one with more parity, by both readers, without any target."""
        seen = self.trees[0][1]
        command.write_files(whole, *self.targets)
        more = self.folder / "three"
        command.write_files({}, more)
        self.kill(["add-parity", *self.targets, "--parity", M + 2, "-o", more], seconds)
        every = [*self.targets, more]
        expect(self.restored(every) == seen, "restored after add-parity was killed")
        found = reader.choose_set(every)
        expect(found.header.m in (M, M + 2), f"m is {found.header.m}")
        reader.restore(found, self.folder / "out")
        expect(trees.snapshot(self.folder / "out") == seen, "by the second reader")
        shutil.rmtree(self.folder / "out")
        self.counts["new state" if found.header.m == M + 2 else "old state"] += 1
        for path in self.chance.sample(sorted(command.read_files(*self.targets)), M):
            if path.suffix == ".calpe":
                path.unlink()
        expect(self.restored(every) == seen, "restored after a kill and losses")
        self.calpe.must(GOOD, "repair", *every)
        self.calpe.must(GOOD, "verify", *every, "--deep")
        expect(self.restored(every) == seen, "restored after the repair")

    def kill_originals(self, seconds):
        """Parity next to the data: only repair touches the data, and then it is complete."""
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.trees[0][0], home / "tree", symlinks=True)
        seen = trees.snapshot(home / "tree")
        arguments = ["protect", home / "tree", "--keep-original", "--data", K, "--parity", K + 1,
                     "--block-bytes", 16384]
        self.kill(arguments, seconds)
        expect(trees.snapshot(home / "tree") == seen, "protect touched the data")
        self.calpe.must(GOOD, *arguments, "--overwrite")
        self.calpe.must(GOOD, "verify", home)
        files = sorted(path for path in (home / "tree").rglob("*")
                       if path.is_file() and not path.is_symlink())
        for path in self.chance.sample(files, min(3, len(files))):
            path.unlink()
        self.chance.choice(sorted(home.glob("*.calpe"))).unlink()
        self.kill(["repair", home], seconds)
        done = self.calpe.run("verify", home)
        expect(done.returncode in (GOOD, DAMAGED), f"after repair was killed: {done.text}")
        self.counts["new state" if done.returncode == GOOD else "old state"] += 1
        self.calpe.must(GOOD, "repair", home)
        self.calpe.must(GOOD, "verify", home)
        for path in (home / "tree").rglob(".calpe-restore-*"):
            path.unlink()  # leftovers without a final name do not count
        different = trees.difference(without_folder_times(seen),
                                     without_folder_times(trees.snapshot(home / "tree")))
        expect(different is None, f"repaired after a kill: {different}")

    def run(self, kills):
        first = self.protect_arguments(self.trees[0][0])
        protect_seconds = self.seconds_of(first)
        whole = command.read_files(*self.targets)
        command.write_files(self.damage(whole), *self.targets)
        repair_seconds = self.seconds_of(["repair", *self.targets])
        on_disks, update_seconds = self.seconds_of_update()
        command.write_files(whole, *self.targets)
        parity_seconds = self.seconds_of(["add-parity", *self.targets, "--parity", M + 2])
        while self.counts["killed"] < kills:
            self.kill_first_protect(protect_seconds)
            self.kill_second_protect(whole, protect_seconds)
            self.kill_repair(whole, repair_seconds)
            self.kill_repair(whole, repair_seconds)
            self.kill_originals(repair_seconds)
            self.kill_update(on_disks, update_seconds)
            self.kill_update(on_disks, update_seconds)
            self.kill_add_parity(whole, parity_seconds)
        return ", ".join(f"{count} {what}" for what, count in self.counts.items())


def main():
    calpe = command.program_from_arguments()
    kills = 300 if command.is_nightly() else 40
    return command.run_with_seed(
        "kill", lambda folder, chance: Kills(calpe, folder, chance).run(kills), in_memory=False)


if __name__ == "__main__":
    sys.exit(main())
