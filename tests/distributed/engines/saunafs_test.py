#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SaunaFS with our libisal.so.2: saunafs_test.py BUILD

A master and eight chunk servers with our library, and two mounts, one with ISA-L and one with ours.
Both mounts write files with ec(4,2) and ec(5,3), and both read all files: with all servers, and
with two killed. The chunk servers then rebuild the lost parts of ec(4,2), which must be readable
with four servers left. Exit code 77: SaunaFS, /dev/fuse or our library is missing.
"""
import os
import pathlib
import subprocess
import sys
import time

import engine
from engine import claim, content, say

PROGRAMS = ("sfsmaster", "sfschunkserver", "sfsmount", "saunafs", "saunafs-admin")
SERVERS = 8
GOALS = {"ec42": "$ec(4,2)", "ec53": "$ec(5,3)"}
# Blocks have 64 KiB.
SIZES = (1, 65_535, 65_536, 262_145, 5_000_003)
METALOGGERS, CHUNK_SERVERS, CLIENTS, TAPES, FIRST_SERVER = 19420, 19421, 19422, 19423, 19430
PROMETHEUS = 19460
SECONDS_MAX = 120


def settings(path, values):
    path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))


class Cluster:
    def __init__(self, libraries, daemons, folder):
        self.libraries, self.daemons, self.folder = libraries, daemons, folder
        self.files = {}

    def start_master(self):
        home = self.folder / "master"
        home.mkdir()
        (home / "metadata.sfs").write_bytes(b"SFSM NEW")  # an empty file system
        (home / "exports.cfg").write_text("127.0.0.0/8 / rw,alldirs,maproot=0\n")
        (home / "goals.cfg").write_text(
            "".join(f"{10 + i} {name} : {goal}\n" for i, (name, goal) in enumerate(GOALS.items())))
        values = {"DATA_PATH": home, "WORKING_USER": "root", "WORKING_GROUP": "root",
                  "EXPORTS_FILENAME": home / "exports.cfg",
                  "CUSTOM_GOALS_FILENAME": home / "goals.cfg", "PERSONALITY": "master",
                  "PROMETHEUS_HOST": f"127.0.0.1:{PROMETHEUS}",
                  # Notice dead servers and begin to rebuild at once.
                  "OPERATIONS_DELAY_INIT": 0, "OPERATIONS_DELAY_DISCONNECT": 1,
                  "CHUNKS_LOOP_MIN_TIME": 1}
        for prefix, port in (("MATOML", METALOGGERS), ("MATOCS", CHUNK_SERVERS),
                             ("MATOCL", CLIENTS), ("MATOTS", TAPES)):
            values |= {f"{prefix}_LISTEN_HOST": "127.0.0.1", f"{prefix}_LISTEN_PORT": port}
        settings(home / "master.cfg", values)
        self.daemons.start("master", ["sfsmaster", "-c", home / "master.cfg", "-d", "start"],
                           dict(os.environ))

    def start_server(self, number):
        home = self.folder / f"server{number}"
        (home / "disk").mkdir(parents=True)
        (home / "disks.cfg").write_text(f"{home}/disk\n")
        settings(home / "server.cfg",
                 {"DATA_PATH": home, "WORKING_USER": "root", "WORKING_GROUP": "root",
                  "HDD_CONF_FILENAME": home / "disks.cfg", "HDD_LEAVE_SPACE_DEFAULT": "256MiB",
                  "MASTER_HOST": "127.0.0.1", "MASTER_PORT": CHUNK_SERVERS,
                  "MASTER_RECONNECTION_DELAY": 1, "CSSERV_LISTEN_HOST": "127.0.0.1",
                  "CSSERV_LISTEN_PORT": FIRST_SERVER + number})
        pid = self.daemons.start(f"server{number}",
                                 ["sfschunkserver", "-c", home / "server.cfg", "-d", "start"],
                                 self.libraries.environments["ours"])
        self.libraries.check("ours", pid)

    def admin(self, *arguments):
        done = subprocess.run(["saunafs-admin", *arguments, "127.0.0.1", str(CLIENTS)],
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        return done.stdout

    def wait(self, holds, text):
        deadline = time.monotonic() + SECONDS_MAX
        while not holds():
            self.daemons.check_running()
            claim(time.monotonic() < deadline, f"{text()}\n{self.daemons.log('master')}")
            time.sleep(0.5)

    def servers(self):
        """Number of connected servers with space."""
        rows = [row.split() for row in self.admin("list-chunkservers", "--porcelain").splitlines()]
        return sum(1 for row in rows if len(row) > 4 and row[1] != "-" and int(row[4]) > 0)

    def mount(self, side):
        target = self.folder / side
        target.mkdir()
        pid = self.daemons.start(f"mount-{side}",
                                 ["sfsmount", target, "-H", "127.0.0.1", "-P", str(CLIENTS), "-f",
                                  "-o", "sfscachemode=NEVER"], self.libraries.environments[side])
        self.wait(lambda: os.path.ismount(target),
                  lambda: f"no mount: {self.daemons.log(f'mount-{side}')}")
        self.libraries.check(side, pid)

    def unmount(self):
        for side in ("stock", "ours"):
            if os.path.ismount(self.folder / side):
                subprocess.run(["umount", "-l", self.folder / side], check=False)

    def write(self, side, goal, sizes):
        directory = self.folder / side / f"{goal}-{side}"
        if not directory.exists():
            directory.mkdir()
            subprocess.run(["saunafs", "setgoal", goal, directory], check=True,
                           stdout=subprocess.DEVNULL, timeout=SECONDS_MAX)
        for size in sizes:
            name = f"{goal}-{side}/{size}"
            self.files[name] = content(name, size)
            with open(self.folder / side / name, "wb") as file:
                file.write(self.files[name])
                file.flush()
                os.fsync(file.fileno())

    def read_all(self, when, goals=tuple(GOALS)):
        names = [name for name in self.files if name.split("-")[0] in goals]
        for side in ("stock", "ours"):
            for name in names:
                got = (self.folder / side / name).read_bytes()
                claim(got == self.files[name], f"{when}: {name} read with {side} differs")
        say(f"{when}: {len(names)} files equal through both mounts")

    def kill(self, numbers):
        before = self.servers()
        for number in numbers:
            self.daemons.kill(f"server{number}")
        self.wait(lambda: self.servers() == before - len(numbers),
                  lambda: f"{self.servers()} servers; expected {before - len(numbers)}")

    def parts(self, numbers):
        """Number of parts of chunks on servers."""
        return sum(1 for number in numbers
                   for path in (self.folder / f"server{number}" / "disk").rglob("chunk_*.dat"))

    def lost_parts(self, goal):
        """Chunks of a goal that lack parts, from rows such as "REP ec42 0 12 0 ...": the columns
        count chunks with 0, 1, 2 ... parts to make."""
        rows = [row.split() for row in
                self.admin("chunks-health", "--porcelain", "--replication").splitlines()]
        counts = [row[2:] for row in rows if len(row) > 3 and row[:2] == ["REP", goal]]
        claim(len(counts) == 1, f"chunks-health has {rows}; expected one row of {goal}")
        return sum(map(int, counts[0][1:]))


def test(libraries, daemons, folder):
    cluster = Cluster(libraries, daemons, folder)
    try:
        cluster.start_master()
        for number in range(SERVERS):
            cluster.start_server(number)
        cluster.wait(lambda: cluster.servers() == SERVERS,
                     lambda: f"{cluster.servers()} servers; expected {SERVERS}")
        for side in ("stock", "ours"):
            cluster.mount(side)
        say(f"{SERVERS} chunk servers, two mounts")
        for goal in GOALS:
            for side in ("stock", "ours"):
                cluster.write(side, goal, SIZES)
        cluster.read_all("all servers")
        before = cluster.parts(range(2, SERVERS))
        cluster.kill((0, 1))
        cluster.read_all("two servers killed")
        cluster.wait(lambda: cluster.lost_parts("ec42") == 0,
                     lambda: f"{cluster.lost_parts('ec42')} chunks of ec42 were not rebuilt")
        rebuilt = cluster.parts(range(2, SERVERS)) - before
        claim(rebuilt > 0, "the other servers have no new parts; expected those of ec42")
        say(f"{rebuilt} parts of ec42 rebuilt")
        cluster.write("ours", "ec42", (2_000_001,))
        cluster.kill((2, 3))
        cluster.read_all("four servers killed, after a rebuild", ("ec42",))
    finally:
        cluster.unmount()


if __name__ == "__main__":
    if not pathlib.Path("/dev/fuse").exists():
        print("skipped: no /dev/fuse")
        sys.exit(engine.SKIPPED)
    engine.run_test(test, PROGRAMS)
