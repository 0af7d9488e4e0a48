#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calpe array scan: arrays are found by the superblocks of their members, under any name.

Usage: scan_test.py CALPE PLUGIN
"""
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, run, say

SMALL = ("--chunk", 8 * KIB, "--log", 128 * KIB)


def scan(trial, *arguments, expected=0):
    return trial.array("scan", *arguments, expected=expected)


def main():
    lab.need("nbdkit")
    with lab.Lab(spares=1, member=640 * KIB, more=SMALL) as trial:
        folder = trial.folder / "disks"
        folder.mkdir()
        names = [f"disk {i}" for i in range(7)]
        random.Random(1).shuffle(names)
        paths = [path.rename(folder / name)
                 for path, name in zip([*trial.members, *trial.spare_files], names)]
        # Other files, links to members, a pipe, another array.
        (folder / "text").write_text("x" * 10000)
        (folder / "link").symlink_to(paths[0])
        os.mkfifo(folder / "pipe")
        (folder / "folder").mkdir()
        said = scan(trial, folder)
        for role, path in enumerate(paths[:6]):
            claim(f"{role:>6}  {path}\n" in said, said)
        claim(f" spare  {paths[6]}\n" in said and "6 of 6 members found" in said, said)
        uuid = said.split()[1]
        claim("6 of 6" in scan(trial, *paths, folder, folder), "files and directories")

        other = [trial.folder / f"other{i}" for i in range(3)]
        trial.array("create", "--data", 2, "--parity", 1, "--member-size", 640 * KIB, *SMALL,
                    *other)
        found = json.loads(scan(trial, folder, trial.folder, "--json"))["arrays"]
        claim(len(found) == 2, found)
        claim("expected one: use --uuid" in
              scan(trial, folder, trial.folder, "--paths", expected=3), "two arrays")
        listed = scan(trial, folder, trial.folder, "--paths", "--uuid", uuid).splitlines()
        claim(listed == [str(path) for path in paths], listed)
        # What was found can be served.
        trial.start(members=listed)
        claim(trial.status()["state"] == "healthy", "not healthy")
        # Scanning reads members that are in use, too.
        claim("6 of 6" in scan(trial, folder), "a served array is not found")
        # A member that was replaced is not one any more.
        trial.array("fail", "--member", 2, "--control", trial.control)
        trial.array("rebuild", "--control", trial.control)
        trial.stop()
        said = scan(trial, folder)
        claim(f"{2:>6}  {paths[6]}\n" in said and f"former  {paths[2]}\n" in said, said)
        claim(str(paths[2]) not in
              scan(trial, folder, "--paths").splitlines(), "a former member is listed")
        paths[4].unlink()
        said = scan(trial, folder, expected=1)
        claim(f"{4:>6}  missing\n" in said and "5 of 6 members found" in said, said)
        claim(len(scan(trial, folder, "--paths", expected=1).splitlines()) == 5, "not five")
        empty = trial.folder / "empty"
        empty.mkdir()
        claim(scan(trial, empty, expected=1) == "no array found\n", "an empty directory")
        claim("0 arrays found" in scan(trial, empty, "--paths", expected=3), "no paths")
        run(trial.calpe, "array", "scan", "--json", expected=None)  # the disks of this machine
    say("arrays, members, spares and former members are found")
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
