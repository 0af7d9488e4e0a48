#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a 4+2 array with nbdkit's file plugin and with btrfs raid6, in one run.

  bench/array.py [--calpe PATH] [--plugin PATH] [--size 1G] [--log 64M] [--rounds 5]
                 [--seconds 3] [--folder DIR] [--jobs NAME,...] [--no-btrfs] [--json FILE]
  bench/array.py --calls ...    counts system calls of the servers instead, with strace

All sides use the same disk. fio's nbd engine drives the array and the file plugin through a Unix
socket; for btrfs fio uses io_uring on a file, over six loop devices. Sides take turns in every
round, in changing order. The result is the median of the ratios within rounds; the ratio of the
best rounds is shown as well. Reads are cold: the page cache is dropped for the files before each
read job, and no block is read twice (random reads cover an eighth of all blocks). Write jobs keep
the cache and include the last flush. The array verifies every block that it reads.

Targets, relative to the file plugin: 0.5 (write), 0.9 (read), 1.0 (randread), 0.7 (flush32), 0.5
(flush1); and faster than btrfs in each. Exit code: 0 all met, 1 one missed, 2 could not run.

System calls per operation do not depend on other load of the machine. An operation is a request
of fio; flushes are not counted as operations.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
DATA, PARITY = 4, 2
# name: fio options, target
JOBS = {
    "write": (["--rw=write", "--bs=1M", "--iodepth=16", "--end_fsync=1"], 0.5),
    "read": (["--rw=read", "--bs=1M", "--iodepth=16"], 0.9),
    "randread": (["--rw=randread", "--bs=4k", "--iodepth=32"], 1.0),
    "flush32": (["--rw=randwrite", "--bs=4k", "--iodepth=32", "--fsync=32"], 0.7),
    "flush1": (["--rw=randwrite", "--bs=4k", "--iodepth=1", "--fsync=1"], 0.5),
}
TIMED = ("flush32", "flush1")


def bytes_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def fail(text):
    print(f"array: {text}", file=sys.stderr)
    sys.exit(2)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def forget(files):
    """Drops them from the page cache."""
    os.sync()
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


class Nbd:
    """A server with a Unix socket."""

    def __init__(self, folder, arguments, files):
        self.socket = folder / "nbd"
        self.files = files
        self.server = subprocess.Popen(["nbdkit", "-f", "--exit-with-parent", "-U", self.socket,
                                        *arguments])
        end = time.monotonic() + 60
        while not self.socket.exists():
            if self.server.poll() is not None or time.monotonic() > end:
                fail(f"nbdkit {arguments} does not serve")
            time.sleep(0.02)

    def target(self):
        return ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={self.socket}"]

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.server.terminate()
        self.server.wait()


class File(Nbd):
    name = "file"

    def __init__(self, options, folder):
        file = folder / "disk"
        with open(file, "wb") as out:
            out.truncate(options.size)
        super().__init__(folder, ["file", file], [file])


class Array(Nbd):
    name = "calpe"

    def __init__(self, options, folder):
        members = [folder / f"m{i}" for i in range(DATA + PARITY)]
        # Room for the format's own areas and free slots.
        member = options.size // DATA + options.size // 16 + (192 << 20)
        run(options.calpe, "array", "create", "--data", DATA, "--parity", PARITY, "--member-size",
            member, "--log", options.log, *members)
        super().__init__(folder, [options.plugin, *(f"member={path}" for path in members)], members)


class Btrfs:
    name = "btrfs"

    def __init__(self, options, folder):
        self.files = [folder / f"b{i}" for i in range(DATA + PARITY)]
        self.devices = []
        self.place = folder / "mnt"
        self.place.mkdir()
        for file in self.files:
            with open(file, "wb") as out:
                os.posix_fallocate(out.fileno(), 0, options.size // DATA + (512 << 20))
            self.devices.append(run("losetup", "--show", "-f", file).strip())
        run("mkfs.btrfs", "-q", "-f", "-d", "raid6", "-m", "raid1", *self.devices)
        run("mount", "-t", "btrfs", self.devices[0], self.place)
        self.disk = self.place / "disk"

    def target(self):
        return ["--ioengine=io_uring", f"--filename={self.disk}"]

    def cpu_seconds(self):
        return 0

    def close(self):
        subprocess.run(["umount", self.place])
        for device in self.devices:
            subprocess.run(["losetup", "-d", device])


def measure(side, job, options):
    if "read" in job:
        forget([*side.files, *([side.disk] if isinstance(side, Btrfs) else [])])
    os.sync()  # write back the dirty pages of the previous side
    extent = []
    if job in TIMED:
        extent = ["--time_based", f"--runtime={options.seconds}", "--norandommap"]
    elif job == "randread":  # by size, because blocks already read are cached
        extent = [f"--io_size={options.size // 8}"]
    before = side.cpu_seconds()
    said = run("fio", f"--name={job}", "--thread", "--output-format=json",
               f"--size={options.size}", "--randrepeat=0", *side.target(),
               *JOBS[job][0], *extent)
    result = json.loads(said[said.index("{"):])["jobs"][0]  # skip output of the nbd engine
    if result["error"] != 0:
        fail(f"fio {job} on {side.name}: error {result['error']}")
    done = result["read" if "read" in job else "write"]
    # Time from the first request to the end of the last flush.
    return {"rate": done["io_bytes"] / (result["job_runtime"] / 1000),
            "operations": done["total_ios"],
            "cpu": (side.cpu_seconds() - before) / max(done["total_ios"], 1)}


def report_calls(sides, jobs, options):
    for job in jobs:
        for side in sides:
            with tempfile.NamedTemporaryFile("r") as counts:
                trace = subprocess.Popen(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o",
                                          counts.name, "-p", str(side.server.pid)])
                time.sleep(1)  # until it is attached
                operations = measure(side, job, options)["operations"]
                trace.send_signal(signal.SIGINT)
                trace.wait()
                lines = [line.split() for line in counts]
            calls = {line[1]: int(line[0]) for line in lines
                     if len(line) == 2 and line[0].isdigit() and line[1] != "total"}
            often = sorted(calls.items(), key=lambda one: -one[1])[:8]
            each = ", ".join(f"{name} {count / operations:.2f}" for name, count in often)
            print(f"{job:9} {side.name:5} {sum(calls.values()) / operations:6.2f} calls per "
                  f"operation: {each}", flush=True)


def report(rounds, sides, job, out):
    """Prints a job's row; returns whether its targets are met."""
    unit = 1 << 20 if job in ("write", "read") else 4096
    best = {side: max(each[side]["rate"] for each in rounds) for side in sides}
    met = True
    for other in sides:
        if other == "calpe":
            continue
        ratio = statistics.median(each["calpe"]["rate"] / each[other]["rate"] for each in rounds)
        bar = JOBS[job][1] if other == "file" else 1.0
        is_met = ratio >= bar
        met = met and is_met
        cpu = ""
        if other == "file":
            used = [statistics.median(each[side]["cpu"] for each in rounds) * 1e6
                    for side in ("calpe", "file")]
            cpu = f"  cpu {used[0]:6.0f} / {used[1]:5.0f} us"
        print(f"{job:9} calpe {best['calpe'] / unit:9.0f}  {other:5} {best[other] / unit:9.0f} "
              f"{'MiB/s' if unit != 4096 else 'IOPS '}  median ratio {ratio:5.2f}  "
              f"best/best {best['calpe'] / best[other]:5.2f}  bar {bar:4.2f}  "
              f"{'met' if is_met else 'MISSED'}{cpu}", flush=True)
        out.setdefault(job, {})[other] = {"median_ratio": ratio, "bar": bar,
                                          "best_ratio": best["calpe"] / best[other]}
    return met


def arguments_given():
    build = pathlib.Path(__file__).resolve().parent.parent / "build/dev"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calpe", default=build / "tools/calpe")
    parser.add_argument("--plugin", default=build / "plugins/nbdkit/nbdkit-calpe-plugin.so")
    parser.add_argument("--size", type=bytes_of, default=1 << 30)
    parser.add_argument("--log", type=bytes_of, default=64 << 20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--no-btrfs", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--calls", action="store_true")
    return parser.parse_args()


def main():
    options = arguments_given()
    jobs = options.jobs.split(",")
    kinds = [File, Array] + ([] if options.no_btrfs or options.calls else [Btrfs])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="calpe-bench-", dir=options.folder))
    rounds = {job: [] for job in jobs}
    result = {}
    with contextlib.ExitStack() as ends:
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        sides = []
        for kind in kinds:
            place = folder / kind.name
            place.mkdir()
            sides.append(kind(options, place))
            ends.callback(sides[-1].close)
        for side in sides:  # allocate every block before measuring
            measure(side, "write", options)
        if options.calls:
            report_calls(sides, jobs, options)
            return 0
        for number in range(options.rounds):
            for job in jobs:
                turn = number % len(sides)
                rounds[job].append({side.name: measure(side, job, options)
                                    for side in sides[turn:] + sides[:turn]})
        names = [side.name for side in sides]
        met = [report(rounds[job], names, job, result) for job in jobs]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
