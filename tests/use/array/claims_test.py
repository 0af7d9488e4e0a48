#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Disks that hold data are refused without --force, and disks in use always.

Usage: claims_test.py CALPE PLUGIN
Tests file systems, partition tables and members of other arrays, on files and, if loop devices are
available, on disks. Wrong options leave no file behind.
"""
import errno
import hashlib
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import MIB, claim, run, say

MEMBER = 2 * MIB


def blank(path):
    path.write_bytes(b"")
    os.truncate(path, MEMBER)
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def occupied(folder, other):
    """Files that hold data, and the word that names it."""
    file_system = blank(folder / "ext4")
    run("mke2fs", "-q", "-F", "-t", "ext4", file_system)
    table = blank(folder / "table")
    with open(table, "r+b") as file:  # a boot record with one Linux partition
        file.seek(446)
        file.write(bytes(4) + b"\x83" + bytes(3) + struct.pack("<II", 2048, 2048))
        file.seek(510)
        file.write(b"\x55\xaa")
    swap = blank(folder / "swap")
    run("mkswap", swap)
    late = blank(folder / "late")  # one byte, in the middle of a hole
    with open(late, "r+b") as file:
        file.seek(MEMBER // 2)
        file.write(b"x")
    return {file_system: "ext4 file system", table: "dos partition table", swap: "swap",
            late: "late is not empty (2.0 MB)",
            other.members[0]: f"member of array {uuid_of(other)}"}


def uuid_of(array):
    return array.array("status", *array.members).split()[1]


def check_create(array, held):
    count = 0
    for path, word in held.items():
        before = digest(path)
        for place in range(3):
            new = [array.folder / f"new{i}" for i in range(2)]
            paths = [*new[:place], path, *new[place:]]
            said = array.array("create", "--data", 2, "--parity", 1, "--member-size", "2M", *paths,
                               expected=3)
            claim(word in said and "--force" in said and str(path) in said, f"create says: {said}")
            claim(not any(one.exists() for one in new), "create leaves files behind")
            claim(before == digest(path), f"{path} was written")
            count += 1
    return count


def check_replace_and_add(array, held, target):
    """For an array that is served (target: --control) or not (target: its members)."""
    count = 0
    for path, word in held.items():
        before = digest(path)
        for verb in (("replace", "--member", 0, "--with", path), ("add", "--spare", path)):
            said = array.array(*verb, *target, expected=3)
            claim(word in said and "--force" in said, f"{verb[0]} says: {said}")
            claim(before == digest(path), f"{path} was written")
            count += 1
    return count


def check_options(array):
    """Wrong options are reported before a file is created."""
    shape = ("--data", 2, "--parity", 1)
    wrong = (("--data", 0, "--parity", 1), ("--data", 2, "--parity", 0),
             ("--data", 60, "--parity", 9), (*shape, "--chunk", 5000), (*shape, "--log", 1),
             (*shape, "--size", "1T"), (*shape, "--size", 7), (*shape, "--spares", 1))
    for options in wrong:
        count = sum(int(value) for name, value in zip(options, options[1:])
                    if name in ("--data", "--parity"))
        if "--spares" in options:
            count -= 1
        new = [array.folder / f"new{i}" for i in range(count)]
        said = array.array("create", *options, "--member-size", "2M", *new, expected=None)
        claim("calpe array create:" in said, f"{options} says: {said}")
        claim(not any(one.exists() for one in new), f"{options} leave files behind")
    full = [array.folder / "new0", array.folder / "nowhere/new1", array.folder / "new2"]
    array.array("create", "--data", 2, "--parity", 1, "--member-size", "2M", *full, expected=4)
    claim(not full[0].exists(), "a failed create leaves a file behind")
    return len(wrong) + 1


def check_typing_errors(array):
    for verb in ("status", "explain", "scrub"):
        said = array.array(verb, array.folder / "nofile", expected=4)
        claim(f"cannot open {array.folder}/nofile: No such file or directory" in said and
              "place" not in said and "superblock" not in said, f"{verb} says: {said}")
    # One member forgotten; -r, so that it is not taken out.
    started = subprocess.run(["nbdkit", "-r", "-U", "-", pathlib.Path(sys.argv[2]).resolve(),
                              *array.members[:2], "--run", "true"], stderr=subprocess.PIPE,
                             text=True, check=True)
    claim("member 2 is missing; starting degraded" in started.stderr, f"nbdkit: {started.stderr}")
    return 4


def check_disks(array):
    """On loop devices: a mounted one is refused, and those that are served are claimed."""
    count = 0
    with lab.loop_device(array.folder / "ext4") as disk:
        with open(disk, "rb") as held:  # as a mount or another program holds it
            exclusive = os.open(disk, os.O_RDONLY | os.O_EXCL)
            for verb in (("create", "--force", "--data", 1, "--parity", 1, "--member-size", "2M",
                          disk, array.folder / "new0"),
                         ("replace", "--force", "--member", 0, "--with", disk, *array.members),
                         ("add", "--force", "--spare", disk, *array.members)):
                said = array.array(*verb, expected=3)
                claim("is in use" in said, f"{verb[0]} says: {said}")
                claim(not (array.folder / "new0").exists(), "create leaves a file behind")
                count += 1
            os.close(exclusive)
            del held
        said = array.array("add", "--spare", disk, *array.members, expected=3)
        claim("ext4 file system" in said, f"add says: {said}")
        count += 1
    with lab.loop_device(array.members[2]) as disk:
        for option in ((), ("-r",)):
            command = array.nbdkit(members=[*array.members[:2], disk])
            array.server = subprocess.Popen([command[0], *option, *command[1:]])
            lab.wait_until(lambda: (array.folder / "pid").exists() or
                           array.server.poll() is not None, "nbdkit listens")
            try:
                os.close(os.open(disk, os.O_RDONLY | os.O_EXCL))
                claim(False, "a disk that is served is not claimed")
            except OSError as error:
                claim(error.errno == errno.EBUSY, str(error))
            array.stop()
            os.close(os.open(disk, os.O_RDONLY | os.O_EXCL))
            count += 1
    return count


def check_forced(array, held):
    """--force accepts each, and it is rebuilt."""
    array.start("take-spares=no")
    for path in held:
        array.control_do(do="fail", member=0)
        array.array("replace", "--force", "--member", 0, "--with", path, "--control", array.control)
        array.array("rebuild", "--control", array.control)
        claim(array.state_of(0) == "live", f"{path} is not live")
    array.stop()
    return len(held)


def main():
    lab.need("nbdkit", "mke2fs", "mkswap")
    small = {"data": 2, "parity": 1, "member": MEMBER, "more": ("--chunk", "16K")}
    with lab.Lab(**small) as array, lab.Lab(**small) as other:
        held = occupied(array.folder, other)
        count = check_options(array) + check_typing_errors(array) + check_create(array, held)
        array.array("fail", "--member", 0, *array.members)
        count += check_replace_and_add(array, held, array.members)
        array.start("take-spares=no")
        count += check_replace_and_add(array, held, ("--control", array.control))
        array.control_do(do="fail", member=0)  # it came back when the server started
        array.array("replace", "--member", 0, "--with", array.members[0], "--control",
                    array.control)  # its own member needs no force
        array.array("rebuild", "--control", array.control)
        array.stop()
        said = array.array("create", "--data", 2, "--parity", 1, *array.members, expected=3)
        claim("is a member of array" in said, f"create says: {said}")
        claim(other.array("status", *other.members).count("live") == 3, "the other array changed")
        say(f"{count + 1} commands on files")
        count = check_forced(array, held)
        say(f"{count} forced")
        run("mke2fs", "-q", "-F", "-t", "ext4", array.folder / "ext4")
        array.array("create", "--force", "--data", 2, "--parity", 1, "--chunk", "16K",
                    *array.members)
        array.array("fail", "--member", 0, *array.members)
        count = check_disks(array)
        say(f"{count} on disks")


lab.use_debians_python()
main()
