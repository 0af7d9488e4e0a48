#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sequences of operator actions on arrays, compared with a model of the bytes.

Usage: operator_test.py CALPE PLUGIN
Each sequence creates an array and serves it a few times. Meanwhile it writes, kills the server,
loses members, brings stale ones back, replaces, damages, scrubs, rebuilds, adds spares and parity,
and mistypes commands. A read may never return old or wrong bytes. When status reports that n more
members may fail, n are removed from a copy and every byte is compared. These reads must succeed,
unless members have damage that no scrub has seen yet.
CALPE_SEQUENCE=N runs only sequence N.
"""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say

SEQUENCES = 3000 if lab.NIGHTLY else 300
ONLY = os.environ.get("CALPE_SEQUENCE")
BLOCK = 4096
CHUNK = 8 * KIB
LOG = 128 * KIB
MEMBER = 640 * KIB
# More data than parity: any k members include one of the last session, so members that can be
# opened are never all stale.
SHAPES = ((2, 1), (3, 2), (4, 2), (4, 3))


class Layout:
    """Offsets of the parts of a member, from its superblock and docs/array-format.md."""

    def __init__(self, member):
        with open(member, "rb") as file:
            copies = [file.read(BLOCK), file.read(BLOCK)]
        block = max((copy for copy in copies if copy[:8] == b"calpe-a1"),
                    key=lambda copy: struct.unpack_from("<Q", copy, 32))
        capacity, log = struct.unpack_from("<QQ", block, 88)
        chunk, spare = struct.unpack_from("<II", block, 104)
        room, = struct.unpack_from("<H", block, 78)
        data, = struct.unpack_from("<H", block, 130)
        stripes = -(-capacity // (data * chunk))
        slots = stripes + spare
        pages = -(-(slots * (chunk // BLOCK)) // 512)
        up = lambda bytes_: -(-bytes_ // BLOCK) * BLOCK
        index = up(up(up(4 * stripes) + -(-stripes // 8)) + 8 * pages * room)
        table = 8192 + log + 2 * index
        slots_at = -(-(table + 2 * pages * BLOCK) // chunk) * chunk
        self.parts = {"log": (8192, log), "table": (table, 2 * pages * BLOCK),
                      "data": (slots_at, slots * chunk)}


class Beyond(Exception):
    """There is more damage than the array must survive, and a write failed."""


class Model:
    """The bytes that were written. A block that was not flushed has several valid contents."""

    def __init__(self, size):
        self.bytes = bytearray(size)
        self.unflushed = {}  # block: its earlier contents
        self.uncertain = {}  # after a crash: its other valid contents
        self.logged = {}  # its contents before each write since the log was empty

    def block(self, number):
        return bytes(self.bytes[number * BLOCK:(number + 1) * BLOCK])

    def write(self, offset, data):
        for number in range(offset // BLOCK, -(-(offset + len(data)) // BLOCK)):
            if self.uncertain.pop(number, None) is not None and len(data) < BLOCK:
                raise Beyond()  # the rest of the block is unknown
            self.unflushed.setdefault(number, []).append(self.block(number))
            self.logged.setdefault(number, []).append(self.block(number))
        self.bytes[offset:offset + len(data)] = data

    def flush(self):
        self.unflushed.clear()

    def crash(self):
        for number, older in self.unflushed.items():
            self.uncertain.setdefault(number, []).extend(older)
        self.unflushed.clear()

    def is_right(self, number, got, is_final, may_lose_log):
        """The first contents that are read after a crash become the only valid ones."""
        older = self.logged if may_lose_log else self.uncertain
        if got != self.block(number) and got not in older.get(number, ()):
            return False
        if is_final:
            self.uncertain.pop(number, None)
            self.bytes[number * BLOCK:(number + 1) * BLOCK] = got
        return True


class Sequence:
    def __init__(self, seed, counts):
        self.random = random.Random(seed)
        self.counts = counts
        self.trace = [f"seed {seed}"]
        data, parity = self.random.choice(SHAPES)
        self.lab = lab.Lab(data=data, parity=parity, spares=self.random.randrange(2),
                           member=MEMBER, more=("--chunk", CHUNK, "--log", LOG))
        self.data, self.parity = data, parity
        self.folder = self.lab.folder
        self.disks = [*self.lab.members, *self.lab.spare_files]
        self.drawer = []  # copies of members that were removed
        self.hurt = set()  # damaged since the last scrub
        self.hurt_logs = set()  # those damaged since the log was empty
        self.made = 0
        self.lacking_least = 0  # above parity once that many lacked data: columns may be lost
        self.client = None
        self.model = Model(self.status()["bytes"])

    # --- the array --------------------------------------------------------------------------------
    def note(self, text):
        self.trace.append(text)
        self.counts[text.split()[0]] = self.counts.get(text.split()[0], 0) + 1

    def calpe(self, verb, *arguments, expected=(0, 1)):
        """Exit code and output of a command on the array, served or not."""
        members = [path for path in self.there() if path not in arguments]
        if not self.lab.server and verb not in ("status", "explain"):
            members = [path for path in members if str(path) not in self.unused()]
        where = ("--control", self.lab.control) if self.lab.server else members
        done = subprocess.run([self.lab.calpe, "array", verb, *map(str, arguments),
                               *map(str, where)], capture_output=True, text=True,
                              timeout=lab.PATIENCE_SECONDS * 5)
        claim(done.returncode in expected,
              f"{verb} {arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def there(self):
        return [path for path in self.disks if path.exists()]

    def status(self):
        return json.loads(self.calpe("status", "--json", expected=(0, 1, 2)).stdout)

    def unused(self):
        """Commands that change something refuse paths that are no longer members."""
        return {one["path"] for one in self.status()["unused"]}

    def live(self, status):
        return [member for member in status["members"] if member["state"] == "live"]

    def lacking(self, status):
        """Number of members that are out or damaged. Up to `parity`, every read must succeed."""
        hurt = [member for member in self.live(status)
                if pathlib.Path(member["path"]) in self.hurt]
        return max(self.lacking_least, len(status["members"]) - len(self.live(status)) + len(hurt))

    def remember_lack(self, status):
        """Once too many lacked data, a rebuild does not bring it back."""
        if self.lacking(status) > self.parity:
            self.lacking_least = self.parity + 1

    def new_disk(self):
        self.made += 1
        path = self.folder / f"new{self.made}"
        path.write_bytes(b"")
        os.truncate(path, MEMBER)
        self.disks.append(path)
        return path

    def start(self):
        """Returns False if too much is lost."""
        status = self.status()
        is_lost = status["state"] == "failed"
        self.note(f"start {len(self.there())} of {len(self.disks)}, {self.lacking(status)} lack")
        self.remember_lack(status)
        command = self.lab.nbdkit("take-spares=" + self.random.choice(("yes", "no")),
                                  members=self.there())
        with open(self.folder / "log", "ab") as log:
            self.lab.server = subprocess.Popen(command, stdout=log, stderr=log)
        lab.wait_until(lambda: (self.folder / "pid").exists() or
                       self.lab.server.poll() is not None, "nbdkit listens")
        if self.lab.server.poll() is not None:
            self.lab.server = None
            claim(is_lost or self.lacking(status) > self.parity, "nbdkit does not start")
            return False
        claim(not is_lost, "nbdkit serves with too few members")
        self.client = self.lab.client()
        self.compare(self.client, self.lacking(status), True)
        self.hurt_logs.clear()
        self.model.logged.clear()
        return True

    def compare(self, client, lacking, is_final):
        """Compares every byte. If more than `parity` members lack data, errors are allowed. If
        their logs are also damaged, the last batches of the log may be missing without a trace.
        """
        import nbd
        must_be_readable = lacking <= self.parity
        may_lose_log = not must_be_readable and bool(self.hurt_logs)
        size = len(self.model.bytes)
        step = 32 * BLOCK
        for offset in range(0, size, step):
            length = min(step, size - offset)
            pieces = [(offset, length)]
            if not must_be_readable:
                pieces = [(at, min(BLOCK, size - at))
                          for at in range(offset, offset + length, BLOCK)]
            for at, count in pieces:
                try:
                    got = client.pread(count, at)
                except nbd.Error as error:
                    claim(not must_be_readable, f"bytes {at} + {count}: {error}")
                    self.counts["(errors beyond the promise)"] = \
                        self.counts.get("(errors beyond the promise)", 0) + 1
                    continue
                for begin in range(0, count, BLOCK):
                    number, block = (at + begin) // BLOCK, got[begin:begin + BLOCK]
                    claim(self.model.is_right(number, block, is_final, may_lose_log),
                          f"wrong bytes at {at + begin}")
        self.counts["(arrays compared)"] = self.counts.get("(arrays compared)", 0) + 1

    # --- while it is served -----------------------------------------------------------------------
    def write(self):
        size = len(self.model.bytes)
        length = self.random.choice((100, BLOCK, CHUNK, CHUNK * self.data, 3 * CHUNK * self.data))
        offset = self.random.randrange(size - length)
        if self.random.randrange(2):
            offset = offset // BLOCK * BLOCK
        kind = self.random.randrange(6)
        self.note(f"write {offset} + {length}, kind {kind}")
        data = bytes(length) if kind == 0 else self.random.randbytes(length)
        try:
            if kind == 0:
                self.client.zero(length, offset)
            else:
                self.client.pwrite(data, offset)
        except Exception as error:
            # Part of a block cannot be written if the rest cannot be read.
            claim(self.lacking(self.status()) > self.parity, f"write: {error}")
            raise Beyond() from None
        self.model.write(offset, data)
        if kind != 5:
            self.flush()

    def flush(self):
        self.client.flush()
        self.model.flush()

    def fail(self):
        status = self.status()
        member = self.random.choice(status["members"])
        may = member["state"] != "out" and (status["may_fail"] > 0 or
                                            member["state"] == "rebuilding")
        self.note(f"fail {member['member']}, {status['may_fail']} may")
        may_be_lost = (2,) if status["state"] == "failed" else ()
        self.calpe("fail", "--member", member["member"],
                   expected=(0,) if may else (0, 1, 3, *may_be_lost))
        self.remember_lack(self.status())

    def replace(self):
        status = self.status()
        out = [member for member in status["members"] if member["state"] == "out"]
        if not out:
            self.replace_live(status)
            return
        member = self.random.choice(out)
        path = pathlib.Path(member["path"]) if member["path"] else None
        is_own = path is not None and path.exists() and self.random.randrange(2)
        path = path if is_own else self.new_disk()
        self.note(f"replace {member['member']} with {path.name}")
        # A spare may have replaced it meanwhile.
        self.calpe("replace", "--member", member["member"], "--with", path, expected=(0, 3))

    def replace_live(self, status):
        """The member serves until the new disk has everything."""
        if any(member["replaced_by"] for member in status["members"]):
            return
        member = self.random.choice(status["members"])
        path = self.new_disk()
        self.note(f"replace {member['member']}, which is {member['state']}, with {path.name}")
        self.calpe("replace", "--member", member["member"], "--with", path, expected=(0, 3, 4))

    def add(self):
        self.note("add")
        self.calpe("add", "--spare", self.new_disk(), expected=(0,))

    def rebuild(self):
        status = self.status()
        if self.lacking(status) > self.parity:
            return
        self.note("rebuild")
        self.calpe("rebuild")

    def scrub(self):
        before = self.status()
        if self.lacking(before) > self.parity:
            return
        done = self.calpe("scrub", "--json", expected=(0, 1))
        after = json.loads(done.stdout)
        self.note(f"scrub {after['scrub']['found']} found")
        claim(after["scrub"]["lost"] == 0, f"the scrub lost data: {done.stdout}")
        was_live = {member["path"] for member in self.live(before)}
        for member in self.live(after):
            if member["path"] in was_live:
                self.hurt.discard(pathlib.Path(member["path"]))

    def mistype(self):
        nowhere = self.folder / "nowhere"
        wrong = self.random.choice((("fail", "--member", 99), ("replace", "--member", 0),
                                    ("replace", "--member", 99, "--with", self.disks[0]),
                                    ("replace", "--member", 0, "--with", nowhere),
                                    ("add", "--spare", nowhere), ("add", "--spare", self.folder),
                                    ("grow-parity", "--new", nowhere), ("scrub", "--rate", "fast"),
                                    ("create", "--data", 2, "--parity", 1)))
        self.note(f"mistype {wrong[0]}")
        # 2 if too few members are left for any command.
        self.calpe(*wrong, expected=(2, 3, 4))

    def check_status(self):
        self.note("status")
        is_failed = self.status()["state"] == "failed"
        self.calpe("explain", expected=(2,) if is_failed else (0, 1))

    def stop(self):
        if self.client is not None:
            self.client.shutdown()
            self.client = None
        self.note("stop")
        self.lab.stop()
        self.model.flush()

    def kill(self):
        self.note("kill")
        self.lab.kill()
        self.client = None
        self.model.crash()

    # --- while it is not --------------------------------------------------------------------------
    def lose(self):
        path = self.random.choice(self.there())
        self.note(f"lose {path.name}")
        to = self.folder / "drawer" / path.name
        to.parent.mkdir(exist_ok=True)
        path.rename(to)
        self.drawer.append((to, path))

    def bring_back(self):
        while self.drawer:
            away, path = self.drawer.pop()
            self.note(f"return {path.name}")
            if path.exists():  # another file has its name
                away.unlink()
            else:
                away.rename(path)

    def damage(self):
        status = self.status()
        live = [pathlib.Path(member["path"]) for member in self.live(status)]
        if not live or (self.lacking(status) >= self.parity and self.random.randrange(4)):
            return
        path = self.random.choice(live)
        kind = self.random.choice(("data", "table", "log"))
        begin, length = Layout(path).parts[kind]
        self.note(f"damage {kind} of {path.name}")
        with open(path, "r+b") as file:
            for _ in range(self.random.randrange(1, 40)):
                file.seek(begin + self.random.randrange(length // 512) * 512)
                file.write(self.random.choice((self.random.randbytes(512), bytes(512))))
        self.hurt.add(path)
        if kind == "log":
            self.hurt_logs.add(path)

    def grow(self):
        status = self.status()
        if self.parity + 1 >= self.data or len(self.live(status)) < len(status["members"]) or \
                self.lacking(status):
            return
        self.note("grow")
        path = self.new_disk()
        self.calpe("grow-parity", "--new", path, expected=(0,))
        self.parity += 1

    def check_promise(self):
        """Removes as many members of a copy as may fail according to status."""
        status = self.status()
        may_fail = status["may_fail"]
        live = [pathlib.Path(member["path"]) for member in self.live(status)]
        claim(may_fail <= len(live), "more may fail than there are")
        gone = set(self.random.sample(live, may_fail))
        # Any members may fail, or none; the rest must be readable.
        self.note(f"promise {may_fail}")
        copies = self.folder / "copy"
        copies.mkdir()
        members = []
        for path in self.there():
            if path not in gone:
                members.append(shutil.copy(path, copies / path.name))
        hurt = (self.hurt & set(live)) - gone
        lacking = len(status["members"]) - len(live) + len(gone) + len(hurt)
        if not hurt and status["state"] != "failed":
            lacking = 0  # ignore our own count: status promised it
        command = self.lab.nbdkit(members=members)
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            lab.wait_until(lambda: (self.folder / "pid").exists() or server.poll() is not None,
                           "nbdkit listens")
            if server.poll() is None:
                client = self.lab.client()
                self.compare(client, lacking, False)
                client.shutdown()
            else:
                claim(lacking > self.parity or status["state"] == "failed",
                      f"without {may_fail} more: {server.stderr.read().decode()}")
        finally:
            server.kill()
            server.wait()
            shutil.rmtree(copies)

    def run(self):
        served = (self.write,) * 8 + (self.fail, self.replace, self.replace, self.add, self.rebuild,
                                      self.scrub, self.mistype, self.check_status)
        between = (self.lose, self.lose, self.bring_back, self.damage, self.damage, self.mistype,
                   self.grow, self.scrub, self.check_status)
        try:
            for _ in range(self.random.randrange(1, 4)):
                if not self.start():
                    self.bring_back()
                    continue
                for _ in range(self.random.randrange(2, 7)):
                    self.random.choice(served)()
                self.random.choice((self.stop, self.kill))()
                for _ in range(self.random.randrange(3)):
                    self.random.choice(between)()
            self.check_promise()
        except Beyond:
            pass
        finally:
            self.client = None


def main():
    lab.need("nbdkit")
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"
    counts = {}
    seeds = [int(ONLY)] if ONLY else range(SEQUENCES)
    for seed in seeds:
        sequence = Sequence(seed, counts)
        with sequence.lab:
            try:
                sequence.run()
            except BaseException:
                print("\n".join(sequence.trace), flush=True)
                print(f"repeat with CALPE_SEQUENCE={seed}", flush=True)
                raise
            sequence.lab.stop(expected=None)
        if seed % 50 == 49:
            say(f"{seed + 1} sequences")
    say(f"{len(seeds)} sequences: " +
        ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


lab.use_debians_python()
main()
