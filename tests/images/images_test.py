#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What any release wrote is read, for ever: images_test.py CALPE [PLUGIN]

Each image is read whole, then without as many shards or members as may be lost, then repaired.
Without the plugin's path arrays are skipped, and counted so.
"""
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

import image

sys.path.insert(0, str(image.HERE.parent / "integration" / "array"))
sys.path.insert(0, str(image.HERE.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
import lab  # noqa: E402, pylint: disable=wrong-import-position

IMAGES_MIN = 10


def check_tree(expected, folder, what):
    command.expect(image.tree_digest(folder) == expected["digest"],
                   f"{what}: other files than were protected")


def check_shards(calpe, source, work):
    expected = image.unpack(source, work / "a")
    calpe.must(command.GOOD, "verify", work / "a/set")
    calpe.must(command.GOOD, "restore", work / "a/set", "-o", work / "whole")
    check_tree(expected, work / "whole", "whole")
    for path in sorted((work / "a/set").glob("*.calpe"))[:expected["parity"]]:
        path.unlink()
    calpe.must(command.GOOD, "restore", work / "a/set", "-o", work / "without")
    check_tree(expected, work / "without", "without as many as may be lost")
    calpe.must(command.GOOD, "repair", work / "a/set")
    calpe.must(command.GOOD, "verify", work / "a/set")


def check_update(calpe, source, work):
    """An interrupted update gives the state that docs/format.md defines, whichever shards are
    lost."""
    digests = image.unpack(source, work / "whole")
    lost = digests["parity"]
    expected = {"digest": digests["digest"]}
    for name, begin, end in (("whole", 0, 0), ("last", -lost, None), ("first", 0, lost)):
        if name != "whole":
            image.unpack(source, work / name)
        folder = work / name / "set"
        for path in sorted(folder.glob("*.calpe"))[begin:end]:
            path.unlink()
        calpe.must(command.GOOD, "restore", folder, "-o", work / f"{name}-restored")
        check_tree(expected, work / f"{name}-restored", name)
        calpe.must(command.GOOD, "repair", folder)
        calpe.must(command.GOOD, "verify", "--deep", folder)
        calpe.must(command.GOOD, "restore", folder, "-o", work / f"{name}-repaired")
        check_tree(expected, work / f"{name}-repaired", f"{name}, repaired")
        left = [path.name for path in folder.iterdir() if path.suffix != ".calpe"]
        command.expect(not left, f"repair left {left}")


def check_originals(calpe, source, work):
    expected = image.unpack(source, work / "a")
    calpe.must(command.GOOD, "verify", work / "a/set")
    (work / "a/set/tree/d/f").unlink()
    calpe.must(command.DAMAGED, "verify", work / "a/set")
    calpe.must(command.GOOD, "repair", work / "a/set")
    check_tree(expected, work / "a/set/tree", "repaired")
    with open(work / "a/set/tree/d/f", "r+b") as file:
        file.write(b"another beginning")
    calpe.must(command.GOOD, "update", work / "a/set/tree", work / "a/set")
    calpe.must(command.GOOD, "verify", work / "a/set")
    changed = image.tree_digest(work / "a/set/tree")
    (work / "a/set/tree/d/f").unlink()
    calpe.must(command.GOOD, "repair", work / "a/set")
    check_tree({"digest": changed}, work / "a/set/tree", "repaired after an update")


def array_digest(folder, lost):
    with lab.Lab(create=False) as array:
        array.members = sorted(folder.glob("m*"))[lost:]
        array.start()
        client = array.client()
        size = client.get_size()
        digest = hashlib.sha256(client.pread(size, 0)).hexdigest()
        client.shutdown()
        array.stop()
    return digest


def check_array(source, work):
    expected = image.unpack(source, work / "a")
    shutil.copytree(work / "a", work / "b")
    for folder, lost in (("a", 0), ("b", expected["parity"])):
        command.expect(array_digest(work / folder, lost) == expected["digest"],
                       f"without {lost} members: other bytes than were written")


def check_one(calpe, source, work):
    with tempfile.TemporaryDirectory() as look:
        kind = image.unpack(source, pathlib.Path(look, "x"))["kind"]
    if kind == "shards":
        check_shards(calpe, source, work)
    elif kind == "update":
        check_update(calpe, source, work)
    elif kind == "originals":
        check_originals(calpe, source, work)
    else:
        check_array(source, work)


def main():
    calpe = command.program_from_arguments()
    images = image.all_images()
    command.expect(len(images) >= IMAGES_MIN, f"there are {len(images)} images")
    is_array_read = len(sys.argv) > 2 and shutil.which("nbdkit") is not None
    counts = {"read": 0, "skipped": 0}
    for source in images:
        if source.name.startswith("array-") and not is_array_read:
            counts["skipped"] += 1
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                check_one(calpe, source, pathlib.Path(work))
            except (command.Failure, AssertionError) as failure:
                print(f"{source.name}: {failure}")
                return 1
        counts["read"] += 1
    print(f"images of released formats: {counts['read']} read, {counts['skipped']} skipped")
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    os.umask(0o022)
    sys.exit(main())
