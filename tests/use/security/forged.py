#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forged generations of a set with an HMAC: the key never restores them, and no command destroys
the owner's shards because of them.

usage: forged.py CALPE
The forger has up to m disks, knows the uuid and the format, and writes a complete generation with
other content there, newer or of the same number: without a root, with a root, or with the HMAC of
another key.
"""
import itertools
import shutil
import sys

import hostile
import shard_format as fmt
from command import GOOD, LOST, USAGE, expect, read_files

K, M = 3, 2
KINDS = ("none", "root", "other key")


class Place:
    def __init__(self, calpe, folder):
        self.calpe, self.folder = calpe, folder
        self.key = hostile.write_key(folder / "key")
        other = hostile.write_key(folder / "other", b"the forger's own key")
        self.source, evil = folder / "film", folder / "evil"
        self.source.write_bytes(hostile.random_bytes(40000, 3))
        evil.mkdir()
        (evil / "film").write_bytes(hostile.random_bytes(40000, 4))
        self.disks = [folder / f"disk{i}" for i in range(K + M)]
        shape = ["--data", K, "--parity", M, "--block-bytes", 1024]
        calpe.must(GOOD, "protect", self.source, *shape, "--key-file", self.key,
                   *(word for disk in self.disks for word in ("-o", disk)))
        self.whole = read_files(*self.disks)
        self.header = fmt.parse_header(next(iter(self.whole.values()))[:fmt.HEADER_BYTES])
        self.forged = {}
        for generation in (self.header.generation, self.header.generation + 5):
            for kind in KINDS:
                made = folder / f"made {kind} {generation}"
                options = {"none": [], "root": ["--root"], "other key": ["--key-file", other]}
                calpe.must(GOOD, "protect", evil / "film", *shape, *options[kind], "-o", made)
                shards = [hostile.remade(path.read_bytes(), uuid=self.header.uuid,
                                         generation=generation)
                          for path in sorted(made.iterdir())]
                if kind != "none":
                    secret = other.read_bytes() if kind == "other key" else None
                    shards = hostile.with_roots(shards, secret)
                self.forged[kind, generation] = shards

    @property
    def root(self):
        return self.header.set_root.hex()

    def reset(self):
        for disk in self.disks:
            shutil.rmtree(disk, ignore_errors=True)
            disk.mkdir()
        for path, raw in self.whole.items():
            path.write_bytes(raw)

    def forge(self, shards, disks, instead):
        """Puts the forged shards on the given disks; `instead`: removes the owner's there."""
        if instead:
            for disk in disks:
                for path in disk.iterdir():
                    path.unlink()
        for i, raw in enumerate(shards):
            (disks[i % len(disks)] / f"zz-film.s{i:03d}.calpe").write_bytes(raw)

    def is_owners_kept(self, lost):
        """Returns true if all shards of the owner still exist under their names."""
        return all(path.is_file() and path.read_bytes() == raw
                   for path, raw in self.whole.items() if path.parent not in lost)


def check_restore(place, what, options, codes):
    out = place.folder / "out"
    out.unlink(missing_ok=True)
    done = place.calpe.run("restore", *place.disks, "-o", out, *options)
    expect(done.returncode in codes, f"{what}: restore {options}: exit {done.returncode}: "
           f"{done.errors}")
    if done.returncode == GOOD:
        is_right = out.read_bytes() == place.source.read_bytes()
        expect(is_right or not options,
               f"{what}: restore {options} returned forged bytes with exit 0")
        expect(is_right or "nothing proves which one is right" in done.errors,
               f"{what}: restore returned forged bytes without a note: {done.errors}")
    return 1


def check_case(place, kind, generation, count, instead, output):
    disks = place.disks[-count:]
    lost = disks if instead else []
    what = f"{kind}, generation {generation}, {count} disks, instead {instead}, {output}"
    runs = 0
    for options in (["--key-file", place.key], ["--expect-root", place.root]):
        place.reset()
        place.forge(place.forged[kind, generation], disks, instead)
        runs += check_restore(place, what, options, [GOOD])
        done = place.calpe.run("verify", *place.disks, *options)
        expect(done.returncode == (1 if instead else GOOD), f"{what}: verify: {done.errors}")
        expect("it is not proven and not used" in done.errors,
               f"{what}: verify does not mention the others")
        targets = ["-o", place.folder / "new"] if output == "elsewhere" else (
            ["-o", place.disks[0]] if output == "same" else [])
        done = place.calpe.run("repair", *place.disks, *options, *targets)
        expect(done.returncode == GOOD, f"{what}: repair {options}: {done.errors}")
        expect(place.is_owners_kept(lost), f"{what}: repair {options} changed the owner's shards")
        place.calpe.must(GOOD, "verify", *place.disks, *targets[1:], *options)
        shutil.rmtree(place.folder / "new", ignore_errors=True)
        runs += 3
    place.reset()
    place.forge(place.forged[kind, generation], disks, instead)
    done = place.calpe.run("update", place.source, *place.disks, "--key-file", place.key,
                           "--dry-run")
    expect(done.returncode == (1 if instead else GOOD), f"{what}: update --dry-run: {done.errors}")
    # Without the key.
    is_other_kind = kind != "other key"
    runs += check_restore(place, what, [], [LOST] if is_other_kind else [GOOD])
    info = place.calpe.run("info", *place.disks)
    expect(("differ in the kind of root" in info.errors) == is_other_kind, f"{what}: {info.errors}")
    expect(info.returncode != GOOD or not is_other_kind, f"{what}: info: exit 0")
    done = place.calpe.run("verify", *place.disks)
    expect(done.returncode == LOST if is_other_kind else "nothing proves" in done.errors,
           f"{what}: verify: exit {done.returncode}: {done.errors}")
    runs += 3
    changed = place.folder / "changed"
    changed.write_bytes(b"x" * 40000)
    before = read_files(*place.disks)
    commands = [("repair", *place.disks), ("repair", *place.disks, "-o", place.disks[0]),
                ("update", changed, *place.disks, "--replace-all"),
                ("add-parity", *place.disks, "--parity", M + 1)]
    for arguments in commands:
        done = place.calpe.run(*arguments)
        expect(done.returncode in (LOST, USAGE), f"{what}: {arguments[0]} without the key: exit "
               f"{done.returncode}: {done.text}{done.errors}")
        expect(read_files(*place.disks) == before, f"{what}: {arguments[0]} wrote without the key")
        runs += 1
    return runs


def check_unseen(place):
    """Only forged shards are given, and -o is a directory with the owner's shards."""
    runs = 0
    for (kind, generation), shards in place.forged.items():
        for missing in range(K + M):
            place.reset()
            evil = place.folder / "found"
            shutil.rmtree(evil, ignore_errors=True)
            evil.mkdir()
            for i, raw in enumerate(shards):
                if i != missing:
                    (evil / f"film.s{i:03d}.calpe").write_bytes(raw)
            target = next(path.parent for path, raw in place.whole.items()
                          if fmt.parse_header(raw[:fmt.HEADER_BYTES]).index == missing)
            done = place.calpe.run("repair", evil, "-o", target)
            expect(place.is_owners_kept([]), f"{kind}, generation {generation}: repair -o replaced "
                   f"shard {missing} of the owner: {done.text}")
            runs += 1
    return runs


def work(calpe, folder, _):
    place = Place(calpe, folder)
    runs = 0
    for (kind, generation), count, instead in itertools.product(place.forged, range(1, M + 1),
                                                                (False, True)):
        output = ("none", "same", "elsewhere")[(count + instead + generation) % 3]
        runs += check_case(place, kind, generation, count, instead, output)
    return (f"{runs} commands on forged generations, "
            f"{check_unseen(place)} repairs into the owner's directories")


if __name__ == "__main__":
    sys.exit(hostile.main_with_seed("use_security_forged", work))
