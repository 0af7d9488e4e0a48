#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calpe remote on S3 servers, rclone and directories, with faults and kill -9.

Usage: remote.py CALPE
CALPE_NIGHTLY=1 runs 300 times with faults and 300 times with a kill, instead of a few times.
"""
import filecmp
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
# pylint: disable=wrong-import-position
from clouds import Clouds, has_rclone  # noqa: E402
from command import DAMAGED, GOOD, IO, LOST, USAGE, Calpe, expect, is_nightly  # noqa: E402
from command import run_with_seed  # noqa: E402
from s3_server import Faults  # noqa: E402

FAULT_RUNS = 300 if is_nightly() else 12
KILLS = 300 if is_nightly() else 12
MEMORY_MAX = 256 << 20
FAST = ("--attempts", "4", "--timeout", "5")
KINDS = ("error", "slow_down", "cut_request", "cut_answer", "lost_answer", "wrong_bytes",
         "old_bytes", "other_object")


def is_equal(left, right):
    """True if two directories have the same files with the same bytes."""
    compared = filecmp.dircmp(left, right)
    if compared.left_only or compared.right_only:
        return False
    _, different, strange = filecmp.cmpfiles(left, right, compared.common_files, shallow=False)
    return not different and not strange and all(
        is_equal(left / name, right / name) for name in compared.common_dirs)


def make_photos(folder, chance, count=12, size=60_000):
    folder.mkdir()
    (folder / "2024").mkdir()
    for number in range(count):
        (folder / "2024" / f"{number:03}.raw").write_bytes(chance.randbytes(size))
    (folder / "notes.txt").write_bytes(b"from the sea\n")


class Test:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.clouds = Clouds(folder)
        os.environ.update(self.clouds.environment)
        for name in list(os.environ):
            if name.startswith("AWS_") and name not in self.clouds.environment:
                del os.environ[name]
        self.disks = [folder / f"disk{number}" for number in range(2)]
        for disk in self.disks:
            disk.mkdir()
        self.places = [*self.clouds.s3, *map(str, self.disks)]
        if has_rclone():
            self.places.append("rclone:drive:calpe")
        else:
            (folder / "disk2").mkdir()
            self.places.append(str(folder / "disk2"))
        self.photos = folder / "photos"
        self.back = folder / "back"

    def remote(self, code, verb, *arguments):
        return self.calpe.must(code, "remote", verb, *arguments, *FAST)

    def outputs(self, places):
        return [word for place in places for word in ("-o", place)]

    def restore(self, places, expected, *arguments):
        shutil.rmtree(self.back, ignore_errors=True)
        done = self.remote(GOOD, "restore", *places, "-o", self.back, *arguments)
        expect(is_equal(expected, self.back), f"restored other bytes from {places}: {done.text}")
        return done

    def clear(self):
        for server in self.clouds.servers:
            server.set_faults()
            server.objects.clear()
        for disk in [*self.disks, self.clouds.drive, self.folder / "disk2"]:
            shutil.rmtree(disk, ignore_errors=True)
            disk.mkdir()

    def check_life(self):
        """Protect, lose, update, undo, repair onto a new place, forget."""
        photos, places = self.photos, self.places
        make_photos(photos, self.chance)
        self.remote(GOOD, "protect", photos, "--data", 3, "--parity", 2, "--segment", "64K",
                    *self.outputs(places))
        self.remote(USAGE, "protect", photos, *self.outputs(places))
        self.remote(GOOD, "verify", *places)
        self.restore(places, photos)
        self.restore(places[2:], photos)  # without both S3 servers
        self.restore(places[:3], photos)
        lost = self.remote(LOST, "restore", *places[3:], "-o", self.folder / "lost")
        expect("on no place that answers" in lost.errors, lost.errors)
        before = self.folder / "before"
        shutil.copytree(photos, before, symlinks=True)
        (photos / "notes.txt").write_bytes(b"from the sea and the air\n")
        info = json.loads(self.remote(GOOD, "info", *places, "--json").text)
        undo = info["sets"][0]["generations"][0]["generation"]
        dry = self.remote(GOOD, "update", photos, *places, "--dry-run")
        expect("change   notes.txt" in dry.text, dry.text)
        done = json.loads(self.remote(GOOD, "update", photos, *places, "--json").text)
        expect(done["segments_written"] == 2, f"wrote {done['segments_written']} segments")
        self.restore(places, photos)
        self.restore(places[1:4], before, "--generation", undo)
        shutil.rmtree(self.disks[0])
        self.disks[0].mkdir()
        self.remote(DAMAGED, "verify", *places, "--quick")
        self.remote(DAMAGED, "update", before, *places)
        self.remote(GOOD, "repair", *places, "--verify-upload")
        self.remote(GOOD, "verify", *places)
        self.restore([places[0], places[2], places[4]], photos)
        self.remote(GOOD, "forget", *places, "--keep", 1)
        self.restore(places, photos)
        part = self.calpe.must(GOOD, "remote", "restore", *places, "-o", "-", "--only", "notes.txt")
        expect(part.text == "from the sea and the air\n", part.text)
        return "life"

    def check_errors(self):
        """Wrong places and credentials are errors that name the place."""
        for place, code, text in (
                ("s3://", USAGE, "no bucket"), ("s3://aurora@/x", USAGE, "no bucket"),
                ("s3://unknown@photos", USAGE, "no credentials"),
                ("gs://bucket", USAGE, "unknown kind of place"),
                ("rclone:drive", USAGE, "no remote"),
                ("s3://aurora@photos/../x", USAGE, "an empty part, '.' or '..'"),
                (str(self.folder / "none"), IO, "no such directory"),
                ("s3://aurora@other/x", IO, "NoSuchBucket")):
            done = self.remote(code, "verify", place)
            expect(text in done.errors and place in done.errors, f"{place}: {done.errors}")
        self.clouds.servers[0].secret_key += "x"
        done = self.remote(IO, "verify", self.places[0])
        self.clouds.servers[0].secret_key = self.clouds.servers[0].secret_key[:-1]
        expect("SignatureDoesNotMatch" in done.errors, done.errors)
        disk = self.disks[0]
        before = sorted(disk.iterdir())
        same = self.outputs([disk, f"{disk.parent}/./{disk.name}/"])
        done = self.remote(USAGE, "protect", self.photos, "--name", "twice", "--data", 1,
                           "--parity", 1, *same)
        expect(f"the same place as {disk}" in done.errors, done.errors)
        expect(sorted(disk.iterdir()) == before, "a refused protect left objects")
        done = self.remote(USAGE, "restore", self.places[2], "-o", self.back, "--prefer", "other")
        expect("not one of the given places" in done.errors, done.errors)
        return "errors"

    def check_clock_and_pauses(self):
        """A service whose clock differs by an hour, and one that is slow."""
        self.clouds.servers[0].set_faults(Faults())
        self.clouds.servers[0].faults.clock_ahead = 3600
        self.restore(self.places[:3], self.photos)
        expect(self.clouds.servers[0].refused["RequestTimeTooSkewed"] > 0, "no skew was seen")
        self.clouds.servers[0].set_faults()
        self.clouds.servers[0].faults.delay = 0.4
        sent = self.clouds.servers[0].bytes_sent
        self.restore(self.places, self.photos)  # measured: reads from the others
        slow = self.clouds.servers[0].bytes_sent - sent
        self.clouds.servers[0].set_faults()
        total = sum(path.stat().st_size for path in self.photos.rglob("*") if path.is_file())
        expect(slow < total / 10, f"{slow} of {total} bytes from the slow place")
        sent = self.clouds.servers[1].bytes_sent
        self.restore(self.places, self.photos, "--prefer", self.places[1])
        expect(self.clouds.servers[1].bytes_sent - sent > total / 4, "--prefer has no effect")
        return "clock, slow place"

    def set_random_faults(self, seed):
        for server in self.clouds.servers:
            kinds = self.chance.sample(KINDS, self.chance.randrange(1, 4))
            faults = Faults(seed, **{kind: self.chance.choice([0.02, 0.1, 0.3]) for kind in kinds})
            if self.chance.random() < 0.2:
                faults.vanishes_after = self.chance.randrange(40)
            server.set_faults(faults)

    def one_faulty_life(self, run, states):
        """Every command succeeds, or fails with an error that names a place; never wrong bytes."""
        counts = {"done": 0, "failed": 0}

        def attempt(*arguments):
            done = self.calpe.run("remote", *arguments, "--attempts", "2", "--timeout", "5")
            counts["done" if done.returncode == GOOD else "failed"] += 1
            expect(done.returncode in range(5), f"exit {done.returncode}: {done.errors}")
            if done.returncode in (LOST, IO):
                expect("s3://" in done.errors or "no set" in done.errors,
                       f"run {run}: no place is named: {done.errors}")
            return done.returncode

        self.clear()
        self.set_random_faults(run)
        made = attempt("protect", states[0], "--name", "p", "--data", 2, "--parity", 2,
                       "--segment", "64K", *self.outputs(self.places[:4]))
        self.restore_state(attempt, states[:1])
        if made == GOOD:
            self.set_random_faults(run + 1)
            updated = attempt("update", states[1], *self.places[:4])
            self.restore_state(attempt, states[1:] if updated == GOOD else states)
        for server in self.clouds.servers:
            server.set_faults()
        if made != GOOD:
            self.calpe.run("remote", "protect", states[0], "--name", "p", "--data", 2, "--parity",
                           2, "--segment", "64K", *self.outputs(self.places[:4]))
        self.remote(GOOD, "repair", *self.places[:4])
        if made == GOOD:
            self.remote(GOOD, "update", states[1], *self.places[:4])
        self.restore(self.places[2:4], states[1] if made == GOOD else states[0])
        return counts

    def restore_state(self, attempt, states):
        shutil.rmtree(self.back, ignore_errors=True)
        if attempt("restore", *self.places[:4], "-o", self.back) == GOOD:
            expect(any(is_equal(state, self.back) for state in states),
                   "restored bytes of no state")

    def states(self):
        states = [self.folder / "state0", self.folder / "state1"]
        make_photos(states[0], self.chance, 6, 40_000)
        shutil.copytree(states[0], states[1])
        (states[1] / "2024/003.raw").write_bytes(self.chance.randbytes(50_000))
        (states[1] / "new").write_bytes(self.chance.randbytes(30_000))
        return states

    def check_faults(self, states):
        total = {"done": 0, "failed": 0}
        for run in range(FAULT_RUNS):
            for key, count in self.one_faulty_life(run, states).items():
                total[key] += count
        expect(total["done"] > 0, "no command succeeded")
        return f"{FAULT_RUNS} runs with faults ({total['done']} done, {total['failed']} refused)"

    def kill(self, *arguments):
        """Runs a command and kills it at a random moment."""
        command = self.calpe.arguments("remote", *arguments, *FAST)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            try:
                child.wait(self.chance.uniform(0.0, 0.35))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
        return child.returncode

    def check_kills(self, states):
        places = self.places[:4]
        killed = 0
        make = ("protect", states[0], "--name", "p", "--data", 2, "--parity", 2, "--segment", "64K",
                *self.outputs(places))
        for _ in range(KILLS):
            self.clear()
            killed += self.kill(*make) < 0
            done = self.calpe.run("remote", *make)
            expect(done.returncode == GOOD or "have a set of the name" in done.errors, done.errors)
            killed += self.kill("update", states[1], *places) < 0
            shutil.rmtree(self.back, ignore_errors=True)
            self.remote(GOOD, "restore", *self.chance.sample(places, 2), "-o", self.back)
            expect(any(is_equal(state, self.back) for state in states), "bytes of no state")
            self.remote(GOOD, "repair", *places)
            self.remote(GOOD, "update", states[1], *places)
            shutil.rmtree(self.disks[0])
            self.disks[0].mkdir()
            killed += self.kill("repair", *places) < 0
            self.remote(GOOD, "repair", *places)
            self.restore(self.chance.sample(places, 2), states[1])
        return f"{killed} kills"

    def run(self):
        states = self.states()
        for check in (self.check_life, self.check_clock_and_pauses, self.check_errors,
                      lambda: self.check_faults(states), lambda: self.check_kills(states)):
            print(f"remote: {check()}", flush=True)  # a nightly part takes many minutes
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        expect(peak < MEMORY_MAX, f"a command took {peak} bytes of memory")
        self.clouds.close()
        return f"{peak >> 20} MiB of memory at most"


def main():
    calpe = Calpe(sys.argv[1])
    return run_with_seed("remote", lambda folder, chance: Test(calpe, folder, chance).run())


if __name__ == "__main__":
    random.seed(0)
    sys.exit(main())
