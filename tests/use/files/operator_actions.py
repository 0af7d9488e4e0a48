#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operator's year with a set of shards, in random order: operator_actions.py CALPE

Uses directories on devices (small tmpfs mounts in a private mount namespace; without the right to
mount, directories only). Shards are lost, replaced, moved, renamed and damaged, stale disks return,
disks fill up, sources are wrong, and the command repairs, updates and adds parity. Whenever the
command reports that n shards, directories or devices may still be lost, n of them are removed and
everything must be restored. Beyond n, the result is the right bytes or an error. 500 sequences;
5,000 with CALPE_NIGHTLY=1. CALPE_OPERATOR_SEQUENCES sets another number.
"""
import collections
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, IO, LOST,  # noqa: E402, pylint: disable=wrong-import-position
                     USAGE, expect)

CODES = [("default", 4, 2, ()), ("default", 2, 2, ()), ("default", 3, 3, ()), ("default", 2, 1, ()),
         ("default", 1, 2, ()), ("lrc", 4, 3, ("--groups", 2))]
DEVICES = 4
DEVICE_BYTES = 1 << 20
ACTIONS_EACH = 5
IN_NAMESPACE = "CALPE_OPERATOR_NAMESPACE"


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Sequence:  # pylint: disable=too-many-instance-attributes
    """One set from its creation to its loss or the end of the sequence."""

    def __init__(self, calpe, folder, devices, chance, counts):
        self.calpe, self.folder, self.chance, self.counts = calpe, folder, chance, counts
        self.devices = devices  # directories, each a device if we may mount
        self.source, self.out = folder / "source", folder / "out"
        self.code = chance.choice(CODES)
        self.places = []
        self.expected = []  # contents, one of which must be restored
        self.generation = 0  # the newest that verify found
        self.older = []     # contents of previous generations
        self.saved = None   # copy of a directory, for a disk that returns later
        self.is_damaged = False
        self.steps = []

    # --- the model
    def new_place(self):
        above = self.chance.choice(self.devices)
        there = [place for place in self.places if place.is_dir()]
        if there and self.chance.random() < 0.1:
            above = self.chance.choice(there)  # lost together with its parent
        place = above / f"d{len(self.steps)}-{len(self.places)}-{self.chance.randrange(1000)}"
        place.mkdir()
        self.places.append(place)

    def device_of(self, place):
        return next(device for device in self.devices if device in place.parents)

    def shards(self):
        return [path for place in self.places if place.is_dir() for path in sorted(place.iterdir())
                if path.is_file() and (path.suffix == ".calpe" or path.name[:7] == "renamed")]

    def edit(self):
        for _ in range(self.chance.randrange(1, 3)):
            path = self.source / f"f{self.chance.randrange(4)}"
            path.write_bytes(self.chance.randbytes(self.chance.randrange(200, 900)))
            time = 10**18 + self.chance.randrange(10**15)
            os.utime(path, ns=(time, time))

    def run(self, *arguments):
        self.steps.append(" ".join(map(str, arguments)))
        return self.calpe.run(*arguments)

    def check(self, condition, text):
        expect(condition, f"{text}; steps:\n  " + "\n  ".join(self.steps))

    def start(self):
        (self.source / "sub").mkdir(parents=True)
        for number in range(4):
            (self.source / f"f{number}").write_bytes(self.chance.randbytes(600))
        (self.source / "sub" / "s").write_bytes(self.chance.randbytes(50))
        self.expected = [content_of(self.source)]
        for _ in range(self.chance.randrange(2, 6)):
            self.new_place()
        profile, k, m, more = self.code
        outputs = [part for place in self.places for part in ("-o", place)]
        done = self.run("protect", self.source, "--data", k, "--parity", m, "--profile", profile,
                        *more, "--block-bytes", 64, "--jobs", 1, "--name", "set", *outputs)
        self.check(done.returncode == GOOD, f"protect: {done.errors}")

    # --- reports and whether they are true
    def verify(self):
        done = self.run("verify", *self.places, "--json", "--jobs", 1)
        if done.returncode in (USAGE, IO):  # no shard is left
            return None
        self.check(done.returncode in (GOOD, DAMAGED, LOST), f"verify: {done.errors}")
        said = json.loads(done.stdout)
        if said["set"]["generation"] < self.generation:  # too much of the newest is damaged
            self.check("an older state" in done.errors, f"verify: nothing is noted: {done.errors}")
            return None
        self.generation = said["set"]["generation"]
        is_lost = said["directories_that_may_still_be_lost"] is None
        self.check(is_lost == (done.returncode == LOST), f"numbers and exit code: {done.text}")
        return said

    def check_older(self, content, is_noted, is_beyond):
        """Stale disks may be restored when too little of the newest generation is left. This must
        be noted, unless nothing of the newest generation remains."""
        self.check(is_beyond, "restored, but not what was protected")
        self.check(content in self.older, "restored what never was")
        if is_noted:
            self.counts["older states of stale disks, noted"] += 1
            return
        found = json.loads(self.run("info", *self.places, "--json").stdout)["sets"]
        newest = max(one["set"]["generation"] for one in found)
        self.check(newest < self.generation, "an older state without a note")

    def restore(self, is_beyond=False):
        """Compares the restored bytes and returns the exit code."""
        done = self.run("restore", *self.places, "-o", self.out, "--jobs", 1)
        if done.returncode == GOOD:
            content = content_of(self.out)
            if content not in self.expected:
                self.check_older(content, "an older state" in done.errors, is_beyond)
                shutil.rmtree(self.out)
                return LOST
        shutil.rmtree(self.out, ignore_errors=True)
        return done.returncode

    def restore_without(self, paths, is_beyond=False):
        """Restores with files or directories moved aside, then puts them back."""
        aside = []
        for number, path in enumerate(sorted(paths)):
            if not path.exists():
                continue  # moved with its parent directory
            away = self.device_of(path) / f"aside{number}"
            path.rename(away)
            aside.append((away, path))
        self.steps.append(f"without {[str(path) for path in paths]}")
        code = self.restore(is_beyond)
        if not self.shards() and code in (USAGE, IO):
            code = LOST  # nothing is left
        for away, path in reversed(aside):
            away.rename(path)
        return code

    def check_promise(self, what, groups, promised):
        """`groups`: units of loss, each a list of paths."""
        groups = [group for group in groups if group]
        self.check(promised <= len(groups), f"{promised} {what} of {len(groups)} may be lost")
        chosen = self.chance.sample(groups, promised)
        code = self.restore_without([path for group in chosen for path in group])
        self.check(code == GOOD, f"any {promised} {what} may still be lost, it said: exit {code}")
        self.counts[f"{what} removed as promised"] += promised
        if promised == len(groups):
            return
        choices = list(itertools.combinations(groups, promised + 1))
        is_exact = len(choices) <= 6 and self.chance.random() < 0.3
        codes = set()
        for chosen in choices if is_exact else [self.chance.choice(choices)]:
            lost = [path for group in chosen for path in group]
            code = self.restore_without(lost, is_beyond=True)
            self.check(code in (GOOD, LOST), f"beyond {promised} {what}: exit {code}")
            codes.add(code)
        self.counts["removals beyond what was promised"] += len(choices) if is_exact else 1
        if is_exact:
            self.check(codes != {GOOD}, f"any {promised} {what} may still be lost, it said, and "
                       "one more may be, too")
            self.counts["numbers that are exact"] += 1

    def check_said(self, said):
        directories = [[place] for place in self.places if place.is_dir() and any(place.iterdir())]
        devices = collections.defaultdict(list)
        for place, in directories:
            devices[self.device_of(place)].append(place)
        by_index = [[pathlib.Path(shard["path"])] for shard in said["shards"] if shard["path"]]
        what, groups = self.chance.choice([
            ("directories", directories), ("directories", directories),
            ("devices", list(devices.values())), ("shards", by_index)])
        if what == "devices" and not self.counts["devices mounted"]:
            what, groups = "directories", directories
        if what == "shards" and len(by_index) != len(self.shards()):
            return  # copies, or shards of an older generation
        self.check_promise(what, groups, said[f"{what}_that_may_still_be_lost"])

    # --- actions
    def lose(self):
        said = self.verify()
        if not said or not said["directories_that_may_still_be_lost"]:
            return
        shutil.rmtree(self.places.pop(self.chance.randrange(len(self.places))), ignore_errors=True)

    def replace(self):
        """Replaces a disk and follows Calpe's advice."""
        before = self.verify()
        if not before or not before["directories_that_may_still_be_lost"]:
            return
        place = self.chance.choice([place for place in self.places if place.is_dir()])
        shutil.rmtree(place)
        place.mkdir()
        self.steps.append(f"replaced {place}")
        after = self.repair()
        if before["state"] == "good":
            self.check(after["directories_that_may_still_be_lost"] >=
                       before["directories_that_may_still_be_lost"] or after["moves"],
                       "a replaced disk and repair make the set weaker")

    def move(self):
        shards = self.shards()
        if not shards:
            return
        shard, place = self.chance.choice(shards), self.chance.choice(self.places)
        if place.is_dir() and not (place / shard.name).exists():
            shutil.move(shard, place / shard.name)
            self.steps.append(f"moved {shard} to {place}")

    def rename(self):
        if shards := self.shards():
            shard = self.chance.choice(shards)
            shard.rename(shard.with_name(f"renamed {len(self.steps)} {shard.name[-12:]}"))

    def damage(self):
        if shards := self.shards():
            shard = self.chance.choice(shards)
            with open(shard, "r+b") as out:
                at = self.chance.randrange(shard.stat().st_size)
                out.seek(at)
                byte = out.read(1)
                out.seek(at)
                out.write(bytes([byte[0] ^ 1]))
            self.steps.append(f"damaged {shard} at {at}")
            self.is_damaged = True

    def save(self):
        place = self.chance.choice([place for place in self.places if place.is_dir()])
        self.saved = (place, {path.name: path.read_bytes() for path in place.iterdir()
                              if path.is_file()})

    def return_stale(self):
        """Puts an old copy of a disk in place of the current one, if that may be lost."""
        said = self.verify()
        if self.saved is None or not said or not said["directories_that_may_still_be_lost"]:
            self.save()
            return
        place, files = self.saved
        if place not in self.places:
            self.places.append(place)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        self.steps.append(f"returned {place} as it was long ago")
        self.saved = None

    def empty_place(self):
        if len(self.places) < 6:
            self.new_place()

    def repair(self):
        done = self.run("repair", *self.places, "--json", "--jobs", 1)
        self.check(done.returncode == GOOD, f"repair: exit {done.returncode}: {done.errors}")
        said = json.loads(done.stdout)
        after = self.verify()
        self.check(after and after["state"] == "good", "it is not good after repair")
        for what in ("shards", "directories", "devices"):
            key = f"{what}_that_may_still_be_lost"
            self.check(said[key] == after[key], f"repair and verify differ in {key}: "
                       f"{said[key]}, {after[key]}")
        info = json.loads(self.run("info", *self.places, "--json").stdout)["sets"][0]
        self.check(info["directories_that_may_still_be_lost"] ==
                   after["directories_that_may_still_be_lost"], "info and verify differ")
        self.is_damaged = False
        return after

    def repair_if_possible(self):
        said = self.verify()
        if said and said["state"] != "lost":
            self.repair()

    def spread(self):
        """The advised moves have the promised result."""
        said = self.verify()
        if not said or not said.get("moves"):
            return
        for move in said["moves"]:
            expect(not os.path.exists(move["to"]), f"{move['to']} exists")
            shutil.move(move["from"], move["to"])
            self.steps.append(f"mv {move['from']} {move['to']}")
        after = self.verify()
        for what in ("directories", "devices"):
            self.check(after[f"{what}_that_may_still_be_lost"] >=
                       said[f"{what}_that_could_be_lost"] or what == "directories",
                       f"moves as advised, but not as many {what} may be lost")
        self.check((after["devices_that_may_still_be_lost"],
                    after["directories_that_may_still_be_lost"]) >=
                   (said["devices_that_could_be_lost"], said["directories_that_could_be_lost"]),
                   "moves as advised, but no more may be lost")
        self.counts["sets spread as advised"] += 1

    def add_parity(self):
        said = self.verify()
        if not said:
            return
        parity = said["set"]["parity_shards"] + 1
        done = self.run("add-parity", *self.places, "--parity", parity, "--json", "--jobs", 1)
        self.check(done.returncode in (GOOD, DAMAGED, USAGE, LOST),
                   f"add-parity: {done.returncode}: {done.errors}")
        if done.returncode == GOOD and not self.is_damaged:
            added, after = json.loads(done.stdout), self.verify()
            key = "directories_that_may_still_be_lost"
            self.check(added[key] == after[key], f"add-parity and verify differ in {key}")

    def update(self):
        before = content_of(self.source)
        self.edit()
        done = self.run("update", self.source, *self.places, "--jobs", 1, "--allow-removing", 100)
        if done.returncode == GOOD:
            self.older += self.expected
            self.expected = [content_of(self.source)]
            return
        self.check(done.returncode in (DAMAGED, LOST, USAGE, IO), f"update: {done.returncode}")
        for name, content in before.items():
            (self.source / name).write_bytes(content)

    def wrong_source(self):
        said = self.verify()
        if not said or said["state"] == "lost":
            return
        done = self.run("update", self.source / "sub", *self.places, "--jobs", 1)
        self.check(done.returncode == USAGE, f"wrong source: exit {done.returncode}: {done.text}")

    def full_disk(self):
        """A command that runs out of space leaves the old or the new content."""
        if not self.counts["devices mounted"]:
            return
        device = self.chance.choice(self.devices)
        fill = device / "fill"
        room = self.chance.choice([0, 4096, 16384])
        free = os.statvfs(device)
        fill.write_bytes(bytes(max(0, free.f_bavail * free.f_bsize - room)))
        before = content_of(self.source)
        self.edit()
        verb = self.chance.choice(["update", "repair", "add-parity"])
        more = {"update": [self.source], "repair": [], "add-parity": []}[verb]
        options = {"update": ["--allow-removing", 100], "repair": [],
                   "add-parity": ["--parity", self.code[2] + 1]}[verb]
        done = self.run(verb, *more, *self.places, "--jobs", 1, *options)
        self.counts["commands that found a full disk"] += done.returncode == IO
        fill.unlink()
        if verb == "update" and done.returncode == GOOD:
            self.older += self.expected
            self.expected = [content_of(self.source)]
            return
        if verb == "update" and done.returncode == IO:
            self.expected = [*self.expected, content_of(self.source)]
        for name, content in before.items():
            (self.source / name).write_bytes(content)

    def step(self):
        actions = [self.lose, self.replace, self.replace, self.move, self.move, self.rename,
                   self.damage, self.return_stale, self.return_stale, self.empty_place,
                   self.repair_if_possible, self.spread, self.add_parity, self.update,
                   self.wrong_source, self.full_disk]
        action = self.chance.choice(actions)
        self.steps.append(f"[{action.__name__}]")
        action()
        self.counts["actions"] += 1
        said = self.verify()
        if said is None or said["directories_that_may_still_be_lost"] is None:
            if said is not None:
                code = self.restore()
                self.check(code == LOST, f"verify says lost, restore: exit {code}")
            return False
        self.check_said(said)
        return True

    def go(self):
        self.start()
        for _ in range(ACTIONS_EACH):
            if not self.step():
                self.counts["sets lost at last"] += 1
                break


def as_advised(calpe, folder, devices):
    """4+2 over three disks, one replaced by an empty one: repair uses it."""
    source = folder / "photos"
    source.mkdir()
    (source / "a").write_bytes(b"sea" * 500)
    disks = [devices[i % len(devices)] / f"advised{i}" for i in range(3)]
    outputs = [part for disk in disks for part in ("-o", disk)]
    calpe.must(GOOD, "protect", source, "--data", 4, "--parity", 2, "--block-bytes", 64, *outputs)
    shutil.rmtree(disks[1])
    disks[1].mkdir()
    calpe.must(GOOD, "repair", *disks)
    for disk in disks:
        disk.rename(disk.with_name("gone"))
        calpe.must(GOOD, "restore", *disks, "-o", folder / "out")
        expect(content_of(folder / "out") == content_of(source), f"without {disk}: other bytes")
        shutil.rmtree(folder / "out")
        disk.with_name("gone").rename(disk)
    # All shards in one directory: the report says so and advises moves.
    for disk in disks[1:]:
        for path in disk.iterdir():
            shutil.move(path, disks[0])
    done = calpe.must(GOOD, "verify", *disks)
    expect("All shards are in one directory" in done.text and "mv " in done.errors,
           f"a bad spread is not reported: {done.text} {done.errors}")
    for disk in disks:
        shutil.rmtree(disk)
    shutil.rmtree(source)


def run(calpe, folder, chance, sequences):
    counts = collections.Counter()
    devices = []
    for number in range(DEVICES):
        device = folder / f"device{number}"
        device.mkdir()
        devices.append(device)
        if os.environ.get(IN_NAMESPACE):
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DEVICE_BYTES}", "none", device],
                           check=True)
            counts["devices mounted"] += 1
    try:
        as_advised(calpe, folder, devices)
        for number in range(sequences):
            seed = chance.randrange(1 << 62)
            work = folder / "work"
            work.mkdir()
            try:
                Sequence(calpe, work, devices, type(chance)(seed), counts).go()
            except command.Failure as failure:
                raise command.Failure(f"sequence {number}: {failure}") from None
            shutil.rmtree(work)
            for device in devices:
                for path in device.iterdir():
                    shutil.rmtree(path)
            counts["sequences"] += 1
    finally:
        for device in devices[:counts["devices mounted"]]:
            subprocess.run(["umount", "-l", device], check=False)
    for what in ("directories removed as promised", "removals beyond what was promised",
                 "numbers that are exact", "sets spread as advised"):
        expect(counts[what] > 0 or sequences < 100, f"never happened: {what}")
    devices_text = "" if counts["devices mounted"] else "; no right to mount: directories only"
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) + devices_text


def may_mount():
    with_mount = ["unshare", "-m", "--", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(with_mount, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def main():
    if not os.environ.get(IN_NAMESPACE) and may_mount():
        os.environ[IN_NAMESPACE] = "1"
        os.execvp("unshare", ["unshare", "-m", "--", sys.executable, "-B", *sys.argv])
    calpe = command.program_from_arguments()
    usual = 5000 if command.is_nightly() else 500
    sequences = int(os.environ.get("CALPE_OPERATOR_SEQUENCES", usual))
    return command.run_with_seed(
        "operator", lambda folder, chance: run(calpe, folder, chance, sequences), fixed_seed=25)


if __name__ == "__main__":
    sys.exit(main())
