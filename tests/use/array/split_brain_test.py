#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Split brain: each half of an array was opened alone; neither is erased without --force.

Usage: split_brain_test.py CALPE PLUGIN
Also tests that members which were merely away, one after the other, can come back.
"""
import hashlib
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, MIB, claim, say

OLD, LEFT, RIGHT = b"o" * (256 * KIB), b"L" * 4096, b"R" * 4096


def hashes(paths):
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def serve(array, members, work, *more):
    """Serves only these members and returns the result of `work(client)`."""
    array.start("take-spares=no", *more, members=members)
    try:
        client = array.client()
        result = work(client)
        client.shutdown()
    finally:
        array.stop()
    return result


def write(offset, data):
    def work(client):
        client.pwrite(data, offset)
        client.flush()
    return work


def split(data, parity, left_openings, right_openings):
    """Returns an array whose halves were each in use without the other, and the halves."""
    array = lab.Lab(data=data, parity=parity, member=2 * MIB, more=("--chunk", "16K"))
    half = (data + parity) // 2
    left, right = array.members[:half], array.members[half:]
    serve(array, array.members, write(0, OLD))
    for members, count, offset, what in ((left, left_openings, 0, LEFT),
                                         (right, right_openings, 8192, RIGHT)):
        for _ in range(count):
            serve(array, members, write(offset, what))
    return array, left, right


def refused(array, members):
    """Returns the message of a server that does not start, and checks that nothing is written."""
    before = hashes(array.members)
    done = subprocess.run(array.nbdkit(members=members), capture_output=True, text=True,
                          timeout=lab.PATIENCE_SECONDS)
    claim(done.returncode != 0, "the server starts")
    claim(before == hashes(array.members), "a refused server has written")
    return done.stderr


def check_split(data, parity, left_openings, right_openings):
    array, left, right = split(data, parity, left_openings, right_openings)
    with array:
        for members in (array.members, array.members[::-1]):
            said = refused(array, members)
            claim("split brain" in said and "--force" in said, f"it says: {said}")
        shown = array.array("explain", *array.members, expected=1)
        claim("split brain" in shown, f"explain says: {shown}")
        # Each side is unchanged.
        claim(serve(array, left, lambda client: client.pread(4096, 0)) == LEFT, "left is lost")
        claim(serve(array, right, lambda client: client.pread(4096, 8192)) == RIGHT,
              "right is lost")
        # The operator chooses a side.
        array.start("take-spares=no", members=left)
        role, path = len(left), right[0]
        before = hashes([path])
        said = array.array("replace", "--member", role, "--with", path, "--control", array.control,
                           expected=3)
        claim("split brain" in said, f"replace says: {said}")
        said = array.array("add", "--spare", path, "--control", array.control, expected=3)
        claim("split brain" in said, f"add says: {said}")
        claim(before == hashes([path]), "a refused member was written")
        for role, path in enumerate(right, len(left)):
            array.array("replace", "--member", role, "--with", path, "--force", "--control",
                        array.control)
        array.array("rebuild", "--control", array.control)
        array.stop()
        got = serve(array, right, lambda client: (client.pread(4096, 0), client.pread(4096, 8192)))
        claim(got == (LEFT, OLD[:4096]), "the chosen side is not on the new members")
    say(f"{data}+{parity}: refused, {left_openings} and {right_openings} openings")


def check_returned_while_served():
    """A diverged member that comes back while the array is served is not taken back."""
    array, left, right = split(2, 2, 1, 2)
    with array:
        away = [path.rename(path.with_suffix(".away")) for path in right]
        array.start("take-spares=no", members=array.members)
        before = hashes(away)
        for path, back in zip(away, right):
            path.rename(back)
        array.control_do(do="scrub")
        lab.wait_until(lambda: array.control_do(do="status")["scrub"]["ended"] == 1, "a scrub")
        for _ in range(3):  # the server looks at the members in between
            said = array.array("replace", "--member", 2, "--with", right[0], "--control",
                               array.control, expected=3)
            claim("split brain" in said, f"replace says: {said}")
        claim([array.state_of(role) for role in (2, 3)] == ["out", "out"], "it was taken back")
        claim(before == hashes(right), "what came back was written")
    say("2+2: not taken back while served")


def check_honest():
    """Two members are away, one after the other, and come back in the same order. The superblock of
    the second has the first as out, but the second has no writes of its own."""
    with lab.Lab(data=4, parity=2, member=2 * MIB, more=("--chunk", "16K")) as array:
        members = array.members
        serve(array, members, write(0, OLD))
        serve(array, members[1:], write(0, b"1" * 4096))
        serve(array, members[2:], write(4096, b"2" * 4096))
        for expected in (members[:1] + members[2:], members):
            array.start(members=expected)
            array.array("rebuild", "--control", array.control, expected=None)
            array.stop()
        claim(array.array("status", *members).count("live") == 6, "a member is not back")
        got = serve(array, members[:4], lambda client: client.pread(12288, 0))
        claim(got == b"1" * 4096 + b"2" * 4096 + OLD[:4096], "old bytes")
    say("4+2: members that were away come back")


def main():
    lab.need("nbdkit")
    check_split(2, 2, 1, 2)
    check_split(2, 2, 3, 1)
    check_split(1, 1, 1, 1)  # the same epoch on both sides
    check_returned_while_served()
    check_honest()
    say("5 cases")


lab.use_debians_python()
main()
