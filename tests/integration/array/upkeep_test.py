#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Members come and go while an array is served: spares, rebuild, scrub, re-add, replace.

Usage: upkeep_test.py CALPE PLUGIN
fio writes and verifies all the time. The rebuild rate is printed relative to the read rate of the
members.
"""
import os
import random
import subprocess
import sys
import time

import lab
from lab import KIB, MIB, claim, run, say


class Load:
    """Runs fio with verify in the background; it must end without an error."""

    def __init__(self, trial, seconds=600):
        self.trial = trial
        self.command = [
            "fio", "--name=load", "--ioengine=nbd", f"--uri={trial.uri}", "--thread",
            "--rw=randrw", "--bsrange=4k-64k", "--iodepth=8", f"--size={16 * MIB}",
            "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0",
            "--verify_backlog=64", "--time_based",
            f"--runtime={seconds}", "--fsync=32", "--rate=8m"]

    def __enter__(self):
        before = self.commits()
        self.fio = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
        lab.wait_until(lambda: self.commits() > before + 3, "fio writes")
        return self

    def commits(self):
        return self.trial.status()["log"]["commits"]

    def __exit__(self, kind, value, trace):
        if kind is None:
            before = self.commits()
            lab.wait_until(lambda: self.commits() > before + 3, "fio still writes")
        self.fio.terminate()  # fio finishes and reports
        said = self.fio.communicate(timeout=lab.PATIENCE_SECONDS)[0]
        if kind is None:
            claim("verify:" not in said and "err= 0" in said, f"fio during upkeep:\n{said}")


def read_rate(path):
    """Read rate of a member in bytes per second, with direct I/O."""
    begun = time.monotonic()
    run("dd", f"if={path}", "of=/dev/null", "bs=1M", "iflag=direct")
    return os.path.getsize(path) / (time.monotonic() - begun)


def fill(trial, seed=1):
    client = trial.client()
    size = client.get_size()
    chance = random.Random(seed)
    for offset in range(0, size, MIB):
        client.pwrite(chance.randbytes(min(MIB, size - offset)), offset)
    client.flush()
    client.shutdown()
    return size


def is_filled(trial, size, seed=1, begin=0):
    client = trial.client()
    chance = random.Random(seed)
    for offset in range(0, size, MIB):
        expected = chance.randbytes(min(MIB, size - offset))
        if offset >= begin:
            claim(client.pread(len(expected), offset) == expected, f"wrong bytes at {offset}")
    client.shutdown()


def healthy(trial):
    return lab.wait_until(lambda: trial.status()["state"] == "healthy", "the array is healthy")


def spare_is_taken(trial, size):
    """A member fails under load: the spare replaces it and is rebuilt."""
    bandwidth = read_rate(trial.members[0])
    with Load(trial):
        trial.array("fail", "--member", 2, "--control", trial.control)
        begun = time.monotonic()
        healthy(trial)
        seconds = time.monotonic() - begun
    rate = trial.member_bytes / max(seconds, 1e-3)
    say(f"spare taken and rebuilt under load in {seconds:.2f} s: "
        f"{rate / bandwidth:.2f} of a member's read bandwidth ({bandwidth / 1e6:.0f} MB/s)")
    status = trial.status()
    claim(status["members"][2]["path"] == str(trial.spare_files[0]), f"member 2 is {status}")
    claim(not status["spares"], "the spare is still listed")
    is_filled(trial, size, begin=16 * MIB)


def corruption_is_scrubbed(trial, size):
    """Bytes of a member change without the array's knowledge: a scrub repairs them."""
    path = trial.members[4]
    changed = 0
    with open(path, "r+b", buffering=0) as file:
        chance = random.Random(3)
        for _ in range(20):
            offset = chance.randrange(os.path.getsize(path) // 2, os.path.getsize(path) - 4096)
            file.seek(offset)
            before = file.read(16)
            file.seek(offset)
            file.write(bytes(byte ^ 0x55 for byte in before))
            changed += 1
    with Load(trial):
        out = trial.array("scrub", "--control", trial.control)
    found = trial.status()["members"][4]["corrupt_blocks"]
    claim(found > 0, f"scrub found nothing of {changed} changes:\n{out}")
    out = trial.array("scrub", "--control", trial.control)
    claim(trial.status()["members"][4]["corrupt_blocks"] == found, f"found again:\n{out}")
    is_filled(trial, size, begin=16 * MIB)
    say(f"{changed} places changed: {found} blocks found and repaired, none the second time")


def brief_absence_is_mended(trial, size):
    """A failed member comes back: only the writes it missed are rebuilt."""
    trial.array("fail", "--member", 1, "--control", trial.control)
    claim(trial.status()["state"] == "degraded", "not degraded after fail")
    client = trial.client()
    client.pwrite(b"m" * 3 * KIB, 77 * KIB)
    client.flush()
    client.shutdown()
    trial.array("replace", "--member", 1, "--with", trial.members[1], "--control", trial.control)
    healthy(trial)
    for lost in (0, 3):
        trial.array("fail", "--member", lost, "--control", trial.control)
    client = trial.client()
    claim(client.pread(3 * KIB, 77 * KIB) == b"m" * 3 * KIB, "the missed writes are not there")
    client.shutdown()
    is_filled(trial, size, begin=16 * MIB)
    for lost in (0, 3):
        trial.array("replace", "--member", lost, "--with", trial.members[lost], "--control",
                    trial.control)
    healthy(trial)
    say("a member came back: the missed writes are there without two others")


def too_many_is_refused(trial):
    for lost in (0, 1):
        trial.array("fail", "--member", lost, "--control", trial.control)
    out = trial.array("fail", "--member", 2, "--control", trial.control, expected=1)
    claim("at most 2 may be" in out, out)
    for lost in (0, 1):
        trial.array("replace", "--member", lost, "--with", trial.members[lost], "--control",
                    trial.control)
    healthy(trial)


def replaced_by_a_new_disk(trial, size):
    """An empty file replaces a member that was deleted while the server was down."""
    trial.stop()
    trial.members[5].unlink()
    trial.start()
    claim(trial.state_of(5) == "out", f"a deleted member is {trial.state_of(5)}")
    text = trial.array("explain", "--control", trial.control, expected=1)
    claim("Member 5 is out" in text and "Any 1 member may still fail" in text, text)
    new = trial.folder / "new5"
    with open(new, "wb") as file:
        file.truncate(trial.member_bytes)
    with Load(trial):
        trial.array("replace", "--member", 5, "--with", new, "--control", trial.control)
        trial.array("rebuild", "--control", trial.control)
        healthy(trial)
    trial.members[5] = new
    is_filled(trial, size, begin=16 * MIB)
    say("replaced by an empty file, rebuilt under load")


def rebuild_is_resumed(trial, size):
    """The server is killed during a slow rebuild: the next one resumes it."""
    trial.control_do(do="rate", rebuild=MIB)
    new = trial.folder / "new0"
    with open(new, "wb") as file:
        file.truncate(trial.member_bytes)
    trial.array("fail", "--member", 0, "--control", trial.control)
    trial.array("replace", "--member", 0, "--with", new, "--control", trial.control)
    trial.members[0] = new
    # Progress becomes durable every ten seconds; the whole rebuild takes over twenty.
    begun = time.monotonic()
    done = lab.wait_until(
        lambda: time.monotonic() - begun > 15 and trial.status()["rebuild"]["done"],
        "15 seconds of a rebuild")
    trial.kill()
    trial.start("rebuild-rate=1M")
    again = trial.status()["rebuild"]
    claim(again is not None and again["done"] > 0,
          f"rebuild starts again after {done} bytes: {again}")
    trial.control_do(do="rate", rebuild=0)
    healthy(trial)
    is_filled(trial, size, begin=16 * MIB)
    say(f"killed after {done >> 10} KiB of a rebuild: resumed at {again['done'] >> 10} KiB")


def control_says_what_is_wrong(trial):
    for request, word in (({"do": "nonsense"}, "nonsense"), ({}, "do"), ({"do": "fail"}, "member"),
                          ({"do": "fail", "member": 99}, "99"),
                          ({"do": "fail", "member": "x"}, "member"),
                          ({"do": "replace", "member": 1}, "path"),
                          ({"do": "replace", "member": 1, "path": "/nowhere/x"}, "/nowhere/x"),
                          ({"do": "rate", "rebuild": -1}, "-1"),
                          ({"do": "add", "path": str(trial.members[0])}, "same file")):
        answer = trial.control_do(**request)
        claim("error" in answer and word in answer["error"], f"{request}: {answer}")
    import socket
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(lab.PATIENCE_SECONDS)
        client.connect(str(trial.control))
        client.sendall(b"{not json\n\xff\xfe\n[1,2]\n")
        lines = client.makefile("rb")
        for _ in range(3):
            claim(b"error" in lines.readline(), "no error for an invalid request")
    out = trial.array("status", *trial.members, expected=3)
    claim("in use" in out and "control" in out, out)
    out = trial.array("fail", "--member", 0, *trial.members, expected=3)
    claim("in use" in out, out)
    say("control socket: 12 wrong requests are refused with a message")


def main():
    lab.use_debians_python()
    lab.need("fio", "nbdkit")
    with lab.Lab(spares=1) as trial:
        trial.start()
        size = fill(trial)
        control_says_what_is_wrong(trial)
        spare_is_taken(trial, size)
        corruption_is_scrubbed(trial, size)
        brief_absence_is_mended(trial, size)
        too_many_is_refused(trial)
        replaced_by_a_new_disk(trial, size)
        rebuild_is_resumed(trial, size)
        trial.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
