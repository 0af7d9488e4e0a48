#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failing disks, wrong members, and two programs on one array.

Usage: faults_test.py CALPE PLUGIN
The faulty disk is a file of nbdfuse on `nbdkit --filter=error`, which returns EIO on demand.
"""
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

import lab
from lab import MIB, claim, say


@contextlib.contextmanager
def faulty_disk(trial, real):
    """A file on top of `real`, and a trigger: while it exists, reads and writes fail."""
    trigger = trial.folder / "trigger"
    socket = trial.folder / "faulty.nbd"
    ready = trial.folder / "faulty.pid"
    server = subprocess.Popen(
        ["nbdkit", "-f", "--exit-with-parent", "-U", str(socket), "-P", str(ready),
         "--filter=error", "file",
         str(real), "error-rate=100%", f"error-file={trigger}"], stderr=subprocess.DEVNULL)
    try:
        lab.wait_until(ready.exists, "the faulty disk is served")
        with lab.mounted_nbd(trial.folder / "faulty", f"nbd+unix:///?socket={socket}") as file:
            yield file, trigger
    finally:
        server.terminate()
        server.wait()


def check(trial, content, when):
    client = trial.client()
    claim(client.pread(len(content), 0) == content, f"{when}: wrong bytes")
    client.shutdown()


def disk_fails(seed):
    chance = random.Random(seed)
    with lab.Lab() as trial, faulty_disk(trial, trial.members[3]) as (file, trigger):
        members = [*trial.members[:3], file, *trial.members[4:]]
        trial.start(members=members)
        content = bytearray(chance.randbytes(5 * MIB))
        client = trial.client()
        client.pwrite(content, 0)
        client.flush()
        trigger.touch()
        for _ in range(50):
            offset = chance.randrange(len(content) - 9000)
            content[offset:offset + 9000] = chance.randbytes(9000)
            client.pwrite(content[offset:offset + 9000], offset)
        client.flush()
        client.shutdown()
        check(trial, content, "one disk fails")
        state = trial.state_of(3)
        claim(state == "out", f"the member on the failed disk is {state}")
        trigger.unlink()
        trial.stop()
        trial.start(members=members)
        # It gets the writes it missed, perhaps before the first status. Without two others its
        # bytes are needed, so old ones would be noticed.
        for _ in range(100):
            if trial.state_of(3) == "live":
                break
            time.sleep(0.1)
        state = trial.state_of(3)
        claim(state == "live", f"a member that missed writes stays {state}")
        for lost in (0, 5):
            trial.array("fail", "--member", lost, "--control", trial.control)
        check(trial, content, "the stale member is back")
        trial.stop()
    say("a failed disk is out, nothing is lost, and it is updated when it comes back")


def wrong_members():
    with lab.Lab() as trial, lab.Lab() as other:
        trial.start(members=[*reversed(trial.members)])
        trial.stop()
        say("members in another order are found by their superblocks")

        def refused(members, *words):
            done = subprocess.run(trial.nbdkit(members=members), capture_output=True, text=True,
                                  timeout=lab.PATIENCE_SECONDS)
            claim(done.returncode != 0 and all(word in done.stderr for word in words),
                  f"exit {done.returncode}; expected {words} in:\n{done.stderr}")
            claim(not re.search(r"\b(place|role) \d", done.stderr), f"not a path: {done.stderr}")

        refused([*trial.members[:3], *other.members[3:]], other.members[3].name)
        refused(trial.members[:3], "4")
        refused([trial.members[0], *trial.members], "same file")
        clone = trial.folder / "clone"
        shutil.copyfile(trial.members[0], clone)
        refused([*trial.members, clone], "clone")
        shorts = [trial.folder / f"short{i}" for i in range(3)]
        for path, short in zip(trial.members, shorts):
            shutil.copyfile(path, short)
            os.truncate(short, 1 * MIB)
        refused([*shorts, *trial.members[3:]], "too few members", "1048576")
        refused([])
        trial.start()
        done = subprocess.run([*trial.nbdkit()[:3], "--unix", str(trial.folder / "second"),
                               trial.plugin, *(f"member={path}" for path in trial.members)],
                              capture_output=True, text=True, timeout=lab.PATIENCE_SECONDS)
        claim(done.returncode != 0 and "in use" in done.stderr, f"second server: {done.stderr}")
        say("mixed, too few, twice, cloned, cut short, second server: refused with a message")


def parity_grows():
    """After grow-parity, m + 1 members may be missing."""
    with lab.Lab() as trial:
        trial.start()
        content = random.Random(5).randbytes(3 * MIB)
        client = trial.client()
        client.pwrite(content, 0)
        client.shutdown()
        trial.stop()
        new = trial.folder / "new"
        new.write_bytes(b"")
        os.truncate(new, trial.member_bytes)
        out = trial.array("grow-parity", "--new", new, *trial.members)
        claim("any 3 members may fail" in out, out)
        trial.start(members=[*trial.members[3:], new])
        check(trial, content, "without three members after grow-parity")
        trial.stop()
    say("grow-parity: three members may be missing")


def wrong_parameters():
    plugin = sys.argv[2]
    for arguments, word in ((["nonsense=1"], "nonsense"), (["member="], "member"),
                            (["member=/x", "rebuild-rate=fast"], "rebuild-rate"),
                            (["control=/x", "control=/y"], "control"),
                            (["member=/nowhere/m0"], "/nowhere/m0")):
        done = subprocess.run(["nbdkit", "-f", "-U", "-", plugin, *arguments, "--run", "true"],
                              capture_output=True, text=True, timeout=lab.PATIENCE_SECONDS)
        claim(done.returncode != 0 and word in done.stderr,
              f"{arguments}: exit {done.returncode}: {done.stderr}")
    say("wrong parameters are refused with a message")


def main():
    lab.use_debians_python()
    lab.need("nbdkit", "nbdfuse")
    seed = random.randrange(1 << 32)
    say(f"seed {seed}")
    wrong_parameters()
    wrong_members()
    parity_grows()
    disk_fails(seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
