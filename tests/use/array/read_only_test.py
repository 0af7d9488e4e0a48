#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nbdkit -r does not write to the members, and still serves data that was flushed before a crash.

Usage: read_only_test.py CALPE PLUGIN
"""
import hashlib
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, MIB, claim, say

SEED = int(os.environ.get("CALPE_TEST_SEED", "13"))
UNPRIVILEGED = 65534


def hashes(paths):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def served_read_only(array, members, expected, option="-r", wrapper=()):
    """Every byte is served, nothing can be changed, and the members do not change."""
    before = hashes(array.members)
    command = array.nbdkit(members=members)
    command = [*wrapper, command[0], option, *command[1:]]
    with open(array.folder / "log", "ab") as log:
        array.server = subprocess.Popen(command, stdout=log, stderr=log)
    lab.wait_until(lambda: (array.folder / "pid").exists() or array.server.poll() is not None,
                   "nbdkit listens")
    claim(array.server.poll() is None, "nbdkit -r does not start")
    client = array.client()
    claim(client.is_read_only(), "it can be written to")
    got = client.pread(len(expected), 0)
    claim(got == expected, f"byte {next(i for i in range(len(got)) if got[i] != expected[i])} is "
                           "another" if got != expected else "")
    client.shutdown()
    spare = array.folder / "spare"
    spare.write_bytes(b"")
    os.truncate(spare, array.member_bytes)
    for request in ({"do": "fail", "member": 0}, {"do": "scrub"},
                    {"do": "add", "path": str(spare)},
                    {"do": "replace", "member": 0, "path": str(spare)}):
        answer = array.control_do(**request)
        claim("read-only" in answer.get("error", ""), f"{request}: {answer}")
    claim(array.control_do(do="status")["ok"], "no status")
    array.stop()
    claim(before == hashes(array.members), "a member was written")


def damage(path, generator):
    """Changes bytes in the second half, where the data is."""
    with open(path, "r+b") as file:
        size = path.stat().st_size
        file.seek(generator.randrange(size // 2, size - 64 * KIB) // 4096 * 4096)
        file.write(generator.randbytes(16 * KIB))


def main():
    lab.need("nbdkit")
    generator = random.Random(SEED)
    say(f"seed {SEED}")
    with lab.Lab(data=3, parity=2, member=2 * MIB,
                 more=("--chunk", "16K", "--log", "256K")) as array:
        os.chmod(array.folder, 0o755)
        size = 1 * MIB
        expected = bytearray(size)
        cases = 0
        for crash in (False, True, True):
            array.start()
            client = array.client()
            for _ in range(12):
                length = generator.choice((512, 4096, 40 * KIB, 100 * KIB))
                offset = generator.randrange(size - length)
                data = generator.randbytes(length)
                client.pwrite(data, offset)
                expected[offset:offset + length] = data
            client.flush()
            if crash:
                array.kill()
            else:
                client.shutdown()
                array.stop()
            for option in ("-r", "--read-only", "-vr"):
                served_read_only(array, array.members, bytes(expected), option)
                cases += 1
            # Two members are missing, or one is missing and another has wrong bytes.
            served_read_only(array, array.members[2:], bytes(expected))
            whole = array.members[4].read_bytes()
            damage(array.members[4], generator)
            served_read_only(array, array.members[1:], bytes(expected))
            array.members[4].write_bytes(whole)
            cases += 2
            for path in array.members:
                path.chmod(0o444)
            wrapper = ()
            if os.geteuid() == 0:
                wrapper = ("setpriv", f"--reuid={UNPRIVILEGED}", "--clear-groups")
            if wrapper:
                os.chown(array.folder, UNPRIVILEGED, -1)
            served_read_only(array, array.members, bytes(expected), wrapper=wrapper)
            if wrapper:
                os.chown(array.folder, 0, -1)
                (array.folder / "control").unlink(missing_ok=True)
            cases += 1
            for path in array.members:
                path.chmod(0o600)
        said = subprocess.run([*array.nbdkit(members=array.members[3:])[:1], "-r",
                               *array.nbdkit(members=array.members[3:])[1:]],
                              capture_output=True, text=True, timeout=lab.PATIENCE_SECONDS)
        claim(said.returncode != 0 and "too few members" in said.stderr, said.stderr)
        # The array was only read, so the next server recovers from the crash.
        array.start()
        client = array.client()
        claim(client.pread(size, 0) == bytes(expected), "old bytes after a recovery")
        client.shutdown()
        array.stop()
    say(f"{cases + 1} read-only servers")


lab.use_debians_python()
main()
