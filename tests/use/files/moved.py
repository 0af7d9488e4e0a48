#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files protected with --keep-original that were renamed or edited: moved.py CALPE

What people do to files that a backup program watches: rename them, move them into other
directories, copy them without their times, insert and remove bytes. The bytes are still there, so
`repair` must put all files back although the parity alone could not. Decoys, which only look like
a lost file, must never give wrong bytes. par2 (Debian) repairs the same damage next to us.
"""
import json
import os
import shutil
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402
from command import DAMAGED, GOOD, LOST, USAGE, expect  # noqa: E402

BLOCK = 1024
EDIT_ROUNDS = 300 if command.is_nightly() else 12


def edited(content, chance, edits):
    """Inserts or removes up to 200 bytes at `edits` places."""
    parts, done = [], 0
    for at in sorted(chance.sample(range(len(content)), edits)):
        at = max(at, done)
        parts.append(content[done:at])
        if chance.random() < 0.5:
            parts.append(chance.randbytes(chance.randrange(1, 200)))
            done = at
        else:
            done = min(len(content), at + chance.randrange(1, 200))
    return b"".join([*parts, content[done:]])


class Moved:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.tree, self.parity = folder / "photos", folder / "parity"

    def make(self, sizes, data, parity):
        for place in (self.tree, self.parity):
            shutil.rmtree(place, ignore_errors=True)
        (self.tree / "sub").mkdir(parents=True)
        for number, size in enumerate(sizes):
            name = f"sub/f{number}" if number % 3 == 0 else f"f{number}"
            (self.tree / name).write_bytes(self.chance.randbytes(size))
            os.utime(self.tree / name, ns=(0, 10**18 + number))
        self.calpe.must(GOOD, "protect", self.tree, "--keep-original", "--data", data, "--parity",
                        parity, "--block-bytes", BLOCK, "-o", self.parity)
        return self.files()

    def files(self):
        return {path.relative_to(self.tree): path.read_bytes()
                for path in self.tree.rglob("*") if path.is_file()}

    def verify(self, code):
        return self.calpe.must(code, "verify", self.parity, "--original", self.tree)

    def repair(self, code, *more):
        return self.calpe.must(code, "repair", self.parity, "--original", self.tree, *more)

    def check_restored(self, what, before):
        now = self.files()
        for path, content in before.items():
            expect(now.get(path) == content, f"{what}: {path} is not as it was")
        self.verify(GOOD)

    def renamed(self):
        """All files have other names: far more than one parity file can rebuild."""
        sizes = [0, 1, 300, 301, 5000, 9000, 9001, 40000, 77777, 300]
        before = self.make(sizes, 8, 1)
        for number, path in enumerate(sorted(before)):
            new = self.tree / ("new" if number % 2 else ".") / f"renamed{number}"
            new.parent.mkdir(exist_ok=True)
            (self.tree / path).rename(new)
        shutil.rmtree(self.tree / "sub")
        done = self.verify(DAMAGED)
        expect(done.text.count(" seems to have its bytes") == len(sizes) - 1,
               f"not every file was found (an empty one is not looked for):\n{done.text}")
        self.repair(GOOD)
        self.check_restored("renamed", before)
        expect((self.tree / "new/renamed1").exists(), "repair removed a file that is not its own")

    def copied(self):
        """Copies with another name and time are found by their blocks."""
        before = self.make([30000, 50000, 8000], 6, 1)
        for path, content in before.items():
            (self.tree / path).unlink()
            (self.tree / f"copy of {path.name}").write_bytes(content)
        self.repair(GOOD)
        self.check_restored("copied", before)

    def swapped(self):
        before = self.make([30000, 30000, 50000], 6, 1)
        one, two = self.tree / "f1", self.tree / "f2"
        one.rename(self.tree / "x")
        two.rename(one)
        (self.tree / "x").rename(two)
        self.repair(DAMAGED)  # both look changed on purpose
        self.repair(GOOD, "--overwrite")
        self.check_restored("swapped", before)

    def single(self):
        """A set of one file, which has another name and more bytes at its front."""
        tree = self.tree
        self.make([1], 2, 1)
        self.tree = self.folder / "one.bin"
        content = self.chance.randbytes(100_000)
        self.tree.write_bytes(content)
        shutil.rmtree(self.parity)
        self.calpe.must(GOOD, "protect", self.tree, "--keep-original", "--data", 10, "--parity", 1,
                        "--block-bytes", BLOCK, "-o", self.parity)
        (self.folder / "two.bin").write_bytes(b"front" + content)
        self.tree.unlink()
        self.repair(GOOD)
        expect(self.tree.read_bytes() == content, "single: not as it was")
        self.tree = tree

    def edits(self):
        """Random edits of every file. The parity is for the blocks that the edits hit."""
        for _ in range(EDIT_ROUNDS):
            before = self.make([60_000, 80_000, 500, 40_000], 10, 3)
            for path in before:
                if len(before[path]) < 1000:
                    continue
                count = self.chance.randrange(1, 3)
                (self.tree / path).write_bytes(edited(before[path], self.chance, count))
            done = self.calpe.run("repair", self.parity, "--original", self.tree, "--overwrite")
            expect(done.returncode in (GOOD, LOST),
                   f"edits: exit {done.returncode}: {done.text}{done.errors}")
            self.repaired += done.returncode == GOOD
            if done.returncode == GOOD:
                self.check_restored("edits", before)
        expect(self.repaired >= EDIT_ROUNDS * 3 // 4,
               f"edits: only {self.repaired} of {EDIT_ROUNDS} rounds were repaired")

    def decoys(self):
        """Files with the size and time of lost ones, but other bytes, and with some of them."""
        before = self.make([30_000, 50_000, 700, 700, 900], 6, 1)
        before.pop(pathlib.Path("f4"))  # stays, or the path would count as wrong
        kept = {path: (self.tree / path).stat().st_mtime_ns for path in before}
        for path, content in before.items():
            decoy = self.tree / f"decoy of {path.name}"
            half = len(content) // 2
            decoy.write_bytes(content[:half] + self.chance.randbytes(len(content) - half))
            os.utime(decoy, ns=(0, kept[path]))
            (self.tree / path).unlink()
        self.repair(LOST)
        expect(not any((self.tree / path).exists() for path in before), "decoys: files were made")
        out = self.folder / "salvaged"
        done = self.calpe.run("restore", self.parity, "--original", self.tree, "--salvage", "-o",
                              out)
        expect(done.returncode == DAMAGED, f"decoys: salvage: {done.text}{done.errors}")
        for path, content in before.items():
            salvaged = (out / path).read_bytes()
            expect(len(salvaged) == len(content) and
                   all(got in (want, 0) for got, want in zip(salvaged, content)),
                   f"decoys: {path} has bytes that are neither right nor 0")

    def redundancy(self):
        """A tenth of the blocks may be bad, wherever they are."""
        before = self.make([1], 2, 1)
        file = self.tree / "f1"
        content = self.chance.randbytes(13_000_000)
        file.write_bytes(content)
        shutil.rmtree(self.parity)
        self.calpe.must(GOOD, "protect", self.tree, "--keep-original", "--redundancy", "10%", "-o",
                        self.parity)
        parity = sum(path.stat().st_size for path in self.parity.iterdir())
        # In each of 10 parity files a page per part, two headers, and one between the file lists.
        pages = 10 * 103 * 4096
        expect(parity - pages < len(content) * 0.11, f"10 % of parity are {parity} bytes")
        hit = bytearray(content)
        for at in self.chance.sample(range(len(content)), 120):
            hit[at] ^= 1
        stat = file.stat()
        file.write_bytes(hit)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.repair(GOOD)
        self.check_restored("redundancy", {**before, pathlib.Path("f1"): content})
        for wrong in "0", "151%", "x", "10%%", "-1":
            done = self.calpe.run("protect", self.tree, "--keep-original", "--redundancy", wrong)
            expect(done.returncode == USAGE, f"--redundancy {wrong} is accepted")
        self.calpe.must(USAGE, "protect", self.tree, "--redundancy", "10%")
        self.calpe.must(USAGE, "protect", self.tree, "--keep-original", "--redundancy", "10%",
                        "--parity", 3)

    def par2(self, folder, redundancy):
        """Returns a function that repairs big.bin in the directory, given a file to look in."""
        quiet = {"check": False, "stdout": subprocess.DEVNULL, "cwd": folder}
        subprocess.run(["par2", "create", "-q", "-s1024", f"-c{redundancy}", "big.par2", "big.bin"],
                       **{**quiet, "check": True})
        return lambda name: subprocess.run(["par2", "repair", "-q", "big.par2", name],
                                           **quiet).returncode == 0

    def ours(self, folder):
        return lambda _: self.calpe.run("repair", folder, "--overwrite").returncode == GOOD

    def next_to_par2(self):
        """2,000 blocks: three inserted bytes, 30 hits, another name, or all three."""
        expect(shutil.which("par2"), "par2 is not installed; run .ci/install")
        content = self.chance.randbytes(2000 * BLOCK)
        hit = bytearray(content)
        for at in self.chance.sample(range(len(content)), 30):
            hit[at] ^= 1
        middle = len(content) // 2
        inserted = content[:middle] + b"abc" + content[middle:]
        both = bytes(hit[:middle]) + b"abc" + bytes(hit[middle:])
        for what, changed, name in (("inserted", inserted, "big.bin"), ("hits", hit, "big.bin"),
                                    ("renamed", content, "other.bin"), ("all", both, "other.bin")):
            for program in ("par2", "calpe"):
                folder = self.folder / f"{what} {program}"
                folder.mkdir()
                file = folder / "big.bin"
                file.write_bytes(content)
                if program == "par2":
                    repair = self.par2(folder, 100)
                else:
                    self.calpe.must(GOOD, "protect", file, "--keep-original", "--data", 100,
                                    "--parity", 10, "--block-bytes", BLOCK, "-o", folder)
                    repair = self.ours(folder)
                file.unlink()
                (folder / name).write_bytes(changed)
                is_repaired = repair(name) and file.exists() and file.read_bytes() == content
                self.results.setdefault(what, {})[program] = is_repaired
                shutil.rmtree(folder)
            expect(self.results[what]["calpe"], f"{what}: not repaired, with par2: {self.results}")

    repaired = 0
    results = {}

    def run(self):
        for step in (self.renamed, self.copied, self.swapped, self.single, self.decoys, self.edits,
                     self.redundancy, self.next_to_par2):
            step()
        return (f"{self.repaired} of {EDIT_ROUNDS} rounds of edits repaired; next to par2 "
                f"{json.dumps(self.results)}")


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "moved", lambda folder, chance: Moved(calpe, folder, chance).run(), fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
