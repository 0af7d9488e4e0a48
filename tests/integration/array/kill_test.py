#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 on the server, again and again: flushed data is never lost.

Usage: kill_test.py CALPE PLUGIN
Runs 300 times, 5,000 with CALPE_NIGHTLY=1. Every loop continues with the array that the last kill
left. Blocks contain their number and a version, so that each read shows which write it sees: at
least the last flushed one, at most the last one sent, and never half of one. At the end m members
are deleted, and everything is checked once more.
"""
import os
import random
import struct
import sys
import threading
import time

import lab
from lab import MIB, claim, say

lab.use_debians_python()
import nbd  # noqa: E402  only Debian's Python has it

BLOCK = 4096
LOOPS = 5000 if lab.NIGHTLY else 300
AREA = 6 * MIB


def content(number, version):
    """A block filled with its number and version."""
    return struct.pack("<QQ", number, version) * (BLOCK // 16)


class Versions:
    """Versions of each block that were flushed and sent."""

    def __init__(self, blocks):
        self.flushed = [0] * blocks
        self.sent = [0] * blocks

    def check(self, bytes_, loop):
        for number in range(len(self.sent)):
            block = bytes_[number * BLOCK:(number + 1) * BLOCK]
            got_number, version = struct.unpack_from("<QQ", block)
            if version == 0:
                claim(not any(block), f"loop {loop}: block {number} is half written")
            else:
                claim(got_number == number and block == content(number, version),
                      f"loop {loop}: block {number} is half written, or another's")
            claim(self.flushed[number] <= version <= self.sent[number],
                  f"loop {loop}: block {number} has version {version}, "
                  f"flushed {self.flushed[number]}, sent {self.sent[number]}")
            # Recovery has made this version durable, so it may not be lost later.
            self.flushed[number] = self.sent[number] = version


class Writer:
    """Keeps several non-overlapping writes and flushes in flight until the server is dead. A flush
    covers the writes that were answered before it was sent."""

    def __init__(self, handle, versions, chance, counts):
        self.handle, self.versions, self.chance, self.counts = handle, versions, chance, counts
        self.in_flight = {}
        self.busy = set()

    def send(self):
        kind = self.chance.random()
        blocks = 1 if kind < 0.8 else self.chance.choice((3, 16, 64, 128))
        first = self.chance.randrange(len(self.versions.sent) - blocks + 1)
        if blocks >= 64:
            first -= first % 64
        numbers = range(first, first + blocks)
        if not self.busy.isdisjoint(numbers):
            return
        version = self.versions.next
        self.versions.next += 1
        for number in numbers:
            self.versions.sent[number] = version
        buffer = nbd.Buffer.from_bytearray(
            bytearray(b"".join(content(number, version) for number in numbers)))
        is_fua = kind > 0.97
        cookie = self.handle.aio_pwrite(buffer, first * BLOCK,
                                        flags=nbd.CMD_FLAG_FUA if is_fua else 0)
        self.in_flight[cookie] = (numbers, version, is_fua, buffer)
        self.busy.update(numbers)

    def collect(self):
        self.handle.poll(-1)
        for cookie in [each for each in self.in_flight if self.handle.aio_command_completed(each)]:
            numbers, version, is_fua, _ = self.in_flight.pop(cookie)
            self.busy.difference_update(numbers)
            self.counts["write"] += 1
            for number in numbers:
                self.versions.answered[number] = version
                if is_fua:
                    self.versions.flushed[number] = version

    def flush(self):
        answered = list(self.versions.answered)
        cookie = self.handle.aio_flush()
        while not self.handle.aio_command_completed(cookie):
            self.collect()
        self.versions.flushed = [max(pair) for pair in zip(self.versions.flushed, answered)]
        self.counts["flush"] += 1

    def run(self):
        try:
            while True:
                if self.chance.random() < 0.1:
                    self.flush()
                while len(self.in_flight) < 8:
                    self.send()
                self.collect()
        except nbd.Error:
            pass  # the server is dead, which the caller checks


def one_loop(trial, versions, chance, loop, counts):
    handle = trial.client()
    versions.check(bytes(handle.pread(AREA, 0)), loop)
    versions.answered = list(versions.sent)
    killer = threading.Timer(chance.uniform(0.001, 0.06), trial.kill)
    killer.start()
    Writer(handle, versions, chance, counts).run()
    killer.join()
    claim(trial.server is None, f"loop {loop}: the connection ended before the kill")


def main():
    seed = int(os.environ.get("CALPE_TEST_SEED") or random.randrange(1 << 32))
    say(f"CALPE_TEST_SEED={seed}")
    chance = random.Random(seed)
    with lab.Lab(member=8 * MIB) as trial:
        versions = Versions(AREA // BLOCK)
        versions.next = 1
        counts = {"write": 0, "flush": 0}
        begun = time.monotonic()
        for loop in range(LOOPS):
            trial.start()
            one_loop(trial, versions, chance, loop, counts)
            if loop % 100 == 99:
                say(f"{loop + 1} kills, {counts['write']} writes, {counts['flush']} flushes, "
                    f"{(time.monotonic() - begun) / (loop + 1):.3f} s each")
        trial.start()
        trial.stop()
        for lost in chance.sample(trial.members, trial.parity):
            lost.unlink()
        trial.start()
        versions.check(bytes(trial.client().pread(AREA, 0)), LOOPS)
        claim(counts["flush"] > LOOPS // 4, f"only {counts['flush']} flushes in {LOOPS} loops")
        say(f"{LOOPS} kills: no flushed data is lost, without {trial.parity} members")
    return 0


if __name__ == "__main__":
    sys.exit(main())
