#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A member whose server is stopped (SIGSTOP): the array continues without it, status answers,
and the member catches up when its server continues.

Usage: hung_test.py CALPE PLUGIN
The member is an NBD export of another nbdkit, mounted with nbdfuse.
"""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, MIB, claim, say

MEMBER = 8 * MIB
TIMEOUT = 6  # seconds


@contextlib.contextmanager
def remote_member(trial):
    """Serves a blank file with nbdkit, and mounts it. Yields its path and the server."""
    below = trial.folder / "below"
    with open(below, "wb") as file:
        file.truncate(MEMBER)
    address, pid = trial.folder / "below.nbd", trial.folder / "below.pid"
    server = subprocess.Popen(["nbdkit", "--foreground", "--exit-with-parent", "--unix",
                               str(address), "--pidfile", str(pid), "file", str(below)])
    try:
        lab.wait_until(pid.exists, "the member's server listens")
        with lab.mounted_nbd(trial.folder / "remote", f"nbd+unix:///?socket={address}") as path:
            yield path, server
    finally:
        server.send_signal(signal.SIGCONT)
        server.terminate()
        server.wait()


def timed(work):
    begun = time.monotonic()
    result = work()
    return result, time.monotonic() - begun


class Writer(threading.Thread):
    """Writes random blocks with a flush each, and remembers them."""

    def __init__(self, trial):
        super().__init__(daemon=True)
        self.client = trial.client()
        size = self.client.get_size()
        self.bytes = bytearray().join(self.client.pread(min(MIB, size - at), at)
                                      for at in range(0, size, MIB))
        self.random = random.Random(7)
        self.is_ending = False
        self.error = None
        self.longest = 0
        self.count = 0

    def run(self):
        try:
            while not self.is_ending:
                offset = self.random.randrange(len(self.bytes) // 4096) * 4096
                block = self.random.randbytes(4096)
                _, took = timed(lambda: (self.client.pwrite(block, offset), self.client.flush()))
                self.longest = max(self.longest, took)
                self.bytes[offset:offset + 4096] = block
                self.count += 1
        except Exception as error:
            self.error = error

    def stop(self):
        self.is_ending = True
        self.join(lab.PATIENCE_SECONDS)
        claim(not self.is_alive() and self.error is None, f"the writer: {self.error}")
        self.client.shutdown()

    def compare(self, client):
        step = 1 * MIB
        for at in range(0, len(self.bytes), step):
            count = min(step, len(self.bytes) - at)
            claim(client.pread(count, at) == self.bytes[at:at + count], f"wrong bytes at {at}")


def check(trial, path, server, is_set):
    trial.start(*([f"member-timeout={TIMEOUT}"] if is_set else []))
    writer = Writer(trial)
    writer.start()
    lab.wait_until(lambda: writer.count > 50, "writes")
    server.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    asked = 0
    while True:
        status = trial.status()
        asked += 1
        if status["members"][0]["state"] == "out":
            break
        claim(time.monotonic() - begun < lab.PATIENCE_SECONDS, "the member is not taken out")
        time.sleep(0.1)
    evicted = time.monotonic() - begun
    claim(asked > 2, "status waited until the member was taken out")
    claim(status["members"][0]["hung"], str(status["members"][0]))
    claim(f"{path} did not answer for" in status["members"][0]["why"], status["members"][0]["why"])
    count = writer.count
    lab.wait_until(lambda: writer.count > count + 50, "writes without the member")
    said = trial.array("replace", "--member", 0, "--with", path, "--control", trial.control,
                       expected=3)
    claim("does not answer" in said, said)
    # Without a hung member the array works as before.
    server.send_signal(signal.SIGCONT)
    lab.wait_until(lambda: trial.status()["state"] == "healthy", "the member catches up")
    claim(not trial.status()["members"][0]["hung"], "it hangs still")
    lab.wait_until(lambda: writer.count > count + 100, "writes with the member")
    writer.stop()
    # It has all bytes: without two others it is needed.
    trial.stop()
    trial.start(members=[path, *trial.members[1:4]])
    client = trial.client()
    writer.compare(client)
    client.shutdown()
    trial.stop()
    trial.start()
    lab.wait_until(lambda: trial.status()["state"] == "healthy", "the others are back")
    trial.stop()
    say(f"{writer.count} writes; out after {evicted:.1f} s, {asked} times status; the longest "
        f"write took {writer.longest:.1f} s")
    return evicted


def check_stop(trial, server):
    """The server of the array can be stopped while a member hangs."""
    trial.start(f"member-timeout={TIMEOUT}")
    client = trial.client()
    server.send_signal(signal.SIGSTOP)
    content = os.urandom(256 * KIB)
    client.pwrite(content, 0)
    client.flush()
    client.shutdown()
    trial.server.terminate()
    time.sleep(1)
    server.send_signal(signal.SIGCONT)
    code = trial.server.wait(lab.PATIENCE_SECONDS)
    trial.server = None
    claim(code == 0, f"nbdkit ended with {code}")
    trial.start()
    lab.wait_until(lambda: trial.status()["state"] == "healthy", "the member catches up")
    client = trial.client()
    claim(client.pread(len(content), 0) == content, "wrong bytes")
    client.shutdown()
    trial.stop()
    say("the server was stopped while a member hung")


def main():
    lab.need("nbdkit", "nbdfuse", "fusermount3")
    with lab.Lab(create=False, member=MEMBER) as trial:
        with remote_member(trial) as (path, server):
            trial.members[0] = path
            with open(path, "r+b"):
                pass
            for member in trial.members[1:]:
                with open(member, "wb") as file:
                    file.truncate(MEMBER)
            trial.array("create", "--data", 4, "--parity", 2, "--chunk", 8 * KIB, *trial.members)
            claim(check(trial, path, server, True) < TIMEOUT + 5, "it took too long")
            # By default a member on FUSE has 30 s.
            claim(25 < check(trial, path, server, False) < 45, "not the default")
            check_stop(trial, server)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
