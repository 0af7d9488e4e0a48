#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments, and the same command again: resume.py CALPE

protect and restore resume: the result is complete, less is read than the first time, and no
temporary files remain. repair writes only blocks that are still bad. 24 kills; 150 with
CALPE_NIGHTLY=1.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import command
import trees
from command import GOOD, IO, expect

K, M, BLOCK_BYTES = 4, 2, 512
GROUP_BYTES = 512 * K * BLOCK_BYTES
FILE_BYTES = 20 * GROUP_BYTES + 4321
FILES = 150


class Resumes:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.targets = [folder / "one", folder / "two"]
        self.tree, self.out = folder / "tree", folder / "out"
        self.seconds = {}  # estimated duration of each verb
        self.exit_code = None  # of the last verb that was to be killed
        self.counts = {"killed": 0, "came too late": 0, "protects resumed": 0,
                       "restores resumed": 0, "repairs resumed": 0}
        trees.random_tree(self.tree, chance)
        (self.tree / "large").write_bytes(chance.randbytes(FILE_BYTES))
        (self.tree / "many").mkdir()
        for number in range(FILES):
            (self.tree / "many" / str(number)).write_bytes(chance.randbytes(20000))
        self.seen = trees.snapshot(self.tree)

    def protect_arguments(self, source, *more):
        outputs = [part for target in self.targets for part in ("-o", target)]
        return ["protect", source, "--name", "set", "--data", K, "--parity", M, "--block-bytes",
                BLOCK_BYTES, "--checkpoint", 1, *outputs, *more]

    def restore_arguments(self, *more):
        return ["restore", *self.targets, "-o", self.out, *more]

    def seconds_of(self, arguments):
        started = time.monotonic()
        self.calpe.must(GOOD, *arguments)
        return time.monotonic() - started

    def kill(self, arguments):
        """Kills the verb at a random moment of its duration, which depends on the machine's load. A
        sixth of the kills come too late."""
        verb = arguments[0]
        process = subprocess.Popen(self.calpe.arguments(*arguments), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(self.chance.random() * self.seconds[verb])
        process.send_signal(signal.SIGKILL)
        self.exit_code = process.wait()
        was_killed = self.exit_code == -signal.SIGKILL
        self.counts["killed" if was_killed else "came too late"] += 1
        self.seconds[verb] *= 1.05 if was_killed else 0.8
        return was_killed

    def temporaries(self, *folders):
        return [path for folder in folders for path in folder.rglob(".calpe-*")]

    def checkpointed_groups(self):
        """Returns how much the next protect can skip. Parts of a set that was killed while it wrote
        its headers remain until another set is complete, but cannot be resumed."""
        groups = {}
        for path in self.temporaries(*self.targets):
            raw = path.read_bytes()[:48]
            uuid = path.name[len(".calpe-"):][:36]
            is_record = raw[:8] == b"calpe-r1"
            groups.setdefault(uuid, []).append(
                int.from_bytes(raw[32:40], "little") if is_record else None)
        return max((min(found) for found in groups.values()
                    if len(found) == K + M and None not in found), default=0)

    def check_set(self):
        expect(not self.temporaries(*self.targets), "temporary files are left in the targets")
        self.calpe.must(GOOD, "verify", *self.targets)
        self.calpe.must(GOOD, *self.restore_arguments())
        different = trees.difference(self.seen, trees.snapshot(self.out))
        expect(different is None, f"restored: {different}")
        shutil.rmtree(self.out)

    def kill_protect(self):
        """Kills several times in a row; each run resumes the previous one."""
        command.write_files({}, *self.targets)
        for _ in range(self.chance.randrange(1, 4)):
            if self.kill(self.protect_arguments(self.tree)):
                continue
            if self.exit_code != GOOD:
                break  # killed while it gave names; only --overwrite goes on
            self.check_set()
            return
        before = self.checkpointed_groups()
        is_named = any(path.suffix == ".calpe" for path in command.read_files(*self.targets))
        done = self.calpe.must(GOOD, *self.protect_arguments(
            self.tree, "--json", *(["--overwrite"] if is_named else [])))
        resumed = json.loads(done.text)["resumed_bytes"]
        expect(resumed == before * GROUP_BYTES, f"resumed after {resumed} bytes; expected {before} "
               f"groups of {GROUP_BYTES}")
        self.counts["protects resumed"] += resumed > 0
        self.check_set()

    def kill_restore(self, whole):
        command.write_files(whole, *self.targets)
        if not self.kill(self.restore_arguments()):
            shutil.rmtree(self.out)
            return
        self.out.mkdir(exist_ok=True)
        there = [path for path in trees.snapshot(self.out)
                 if os.path.isfile(self.out / path) and ".calpe-" not in path]
        done = self.calpe.must(GOOD, *self.restore_arguments("--resume", "--json"))
        kept = json.loads(done.text)["already_there"]
        expect(kept >= len(there), f"{len(there)} files were complete, {kept} were kept")
        self.counts["restores resumed"] += kept > 0
        expect(not self.temporaries(self.out), "temporary files are left")
        different = trees.difference(self.seen, trees.snapshot(self.out))
        expect(different is None, f"restored: {different}")
        shutil.rmtree(self.out)

    def check_half_restored(self, whole):
        """Few kills hit the short time between the first and the last rename."""
        command.write_files(whole, *self.targets)
        self.calpe.must(GOOD, *self.restore_arguments())
        for number in range(0, FILES, 2):
            (self.out / "many" / str(number)).unlink()
        done = self.calpe.must(GOOD, *self.restore_arguments("--resume", "--json"))
        kept = json.loads(done.text)["already_there"]
        expect(kept >= FILES // 2, f"{kept} files were kept; expected at least {FILES // 2}")
        different = trees.difference(self.seen, trees.snapshot(self.out))
        expect(different is None, f"restored: {different}")
        shutil.rmtree(self.out)

    def kill_repair(self, whole):
        """Damages a block in each stripe. Repaired blocks are not written again."""
        files = {path: bytearray(raw) for path, raw in whole.items()}
        bad = 0
        end = len(next(iter(whole.values()))) - 4096
        group = 512 * BLOCK_BYTES + 4096
        for offset in range(4096, end - 4096, BLOCK_BYTES):
            if (offset - 4096) % group + BLOCK_BYTES > 512 * BLOCK_BYTES:
                continue  # checksums
            files[self.chance.choice(sorted(files))][offset + 7] ^= 1
            bad += 1
        command.write_files(files, *self.targets)
        self.kill(["repair", *self.targets])
        now = command.read_files(*self.targets)
        left = sum(old[offset:offset + BLOCK_BYTES] != now[path][offset:offset + BLOCK_BYTES]
                   for path, old in whole.items()
                   for offset in range(4096, end - 4096, BLOCK_BYTES))
        done = self.calpe.must(GOOD, "repair", *self.targets, "--json")
        written = json.loads(done.text)["blocks_written"]
        # In a batch that was being written, a block may be complete and its checksum not yet.
        expect(written <= left + 512 * (K + M), f"{written} blocks written, {left} were bad")
        expect(command.read_files(*self.targets) == whole, "not repaired byte for byte")
        self.counts["repairs resumed"] += 0 < written < bad

    def check_others(self):
        """Cases that must not be resumed."""
        source = self.tree / "large"
        command.write_files({}, *self.targets)
        running = subprocess.Popen(
            self.calpe.arguments(*self.protect_arguments("-")), stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.stdin.write(b"x" * (2 * GROUP_BYTES))
        running.stdin.flush()
        deadline = time.monotonic() + 20
        while len(self.temporaries(*self.targets)) < K + M and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        done = self.calpe.must(IO, *self.protect_arguments(source))
        expect("another protect of set is running" in done.errors, done.errors)
        running.kill()
        running.wait()
        running.stdin.close()
        expect(len(self.temporaries(*self.targets)) == K + M, "a running protect was disturbed")
        done = self.calpe.must(GOOD, *self.protect_arguments(source, "--json"))
        expect(json.loads(done.text)["resumed_bytes"] == 0, "a stream was resumed")
        expect(not self.temporaries(*self.targets), "parts of a stream are left")

    def run(self, kills):
        self.check_others()
        command.write_files({}, *self.targets)
        self.seconds["protect"] = self.seconds_of(self.protect_arguments(self.tree))
        whole = command.read_files(*self.targets)
        self.seconds["restore"] = self.seconds_of(self.restore_arguments())
        self.seconds["repair"] = self.seconds["restore"]
        shutil.rmtree(self.out)
        self.check_half_restored(whole)
        while self.counts["killed"] < kills or not (
                self.counts["protects resumed"] and self.counts["repairs resumed"]):
            expect(self.counts["killed"] < 10 * kills, f"never resumed: {self.counts}")
            self.kill_protect()
            self.kill_restore(whole)
            self.kill_repair(whole)
        return ", ".join(f"{count} {what}" for what, count in self.counts.items())


def main():
    calpe = command.program_from_arguments()
    kills = 150 if command.is_nightly() else 24
    return command.run_with_seed(
        "resume", lambda folder, chance: Resumes(calpe, folder, chance).run(kills))


if __name__ == "__main__":
    sys.exit(main())
