#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creates images of the formats as this version writes them:
make_images.py CALPE PLUGIN FAULTS [NAME...]

Run it once for each version of a format, at its release. Names begin with the version, and an
existing image is an error. FAULTS is the library of tests/files/faults.cpp; NAME selects images.
Cached programs are not created here (README.md).
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import image

sys.path.insert(0, str(image.HERE.parent / "integration" / "array"))
import lab  # noqa: E402, pylint: disable=wrong-import-position

# docs/format.md, docs/array-format.md
SHARDS, ORIGINALS, ARRAY, GROWN = "shards-1", "shards-2", "array-1", "array-2"


def make_tree(folder, seed):
    chance = random.Random(seed)
    (folder / "d/empty").mkdir(parents=True)
    (folder / "d/f").write_bytes(chance.randbytes(9000))
    (folder / "none").write_bytes(b"")
    (folder / "one").write_bytes(b"1")
    (folder / "link").symlink_to("d/f")
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    with open(folder / "holes", "wb") as file:
        file.seek(1 << 16)
        file.write(chance.randbytes(100))


def protect(calpe, work, k, m, *more):
    folder = work / "image"
    folder.mkdir()
    source = work / "tree"
    make_tree(source, 100 * k + m)
    subprocess.run([calpe, "protect", source, "--data", str(k), "--parity", str(m),
                    "--block-bytes", "1024", "-o", folder / "set", *more], check=True,
                   stdout=subprocess.DEVNULL)
    return folder, {"kind": "shards", "parity": m, "digest": image.tree_digest(source)}


def keep_original(calpe, work):
    folder = work / "image"
    (folder / "set").mkdir(parents=True)
    make_tree(folder / "set/tree", 5)
    subprocess.run([calpe, "protect", folder / "set/tree", "--data", "4", "--parity", "3",
                    "--block-bytes", "1024", "--keep-original", "-o", folder / "set"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder, {"kind": "originals", "parity": 3,
                    "digest": image.tree_digest(folder / "set/tree")}


def interrupted_update(calpe, faults, work, is_begun):
    """Killed with some journals complete, which count for nothing; or, `is_begun`, with all of them
    complete and some shards changed, which is the new state."""
    folder, expected = protect(calpe, work, 4, 2)
    place = folder / "set"
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    old = expected["digest"]
    (work / "tree/d/f").write_bytes(random.Random(8).randbytes(9500))
    (work / "tree/new").write_bytes(b"new")
    new = image.tree_digest(work / "tree")
    log = work / "log"
    for call in range(1, 10_000):
        shutil.rmtree(place)
        place.mkdir()
        for name, content in before.items():
            (place / name).write_bytes(content)
        done = subprocess.run(
            [calpe, "update", work / "tree", place], check=False, capture_output=True,
            env={**os.environ, "LD_PRELOAD": faults, "CALPE_FAULT_KIND": "kill",
                 "CALPE_FAULT_ROOT": str(place), "CALPE_FAULT_AT": str(call),
                 "CALPE_FAULT_LOG": str(log)})
        if done.returncode == 0:
            raise SystemExit("update ended before it was in the state that was asked for")
        journals = [path for path in place.glob("*.redo") if path.stat().st_size > 4096]
        changed = [name for name, content in before.items()
                   if (place / name).read_bytes() != content]
        if len(changed) == 2 if is_begun else len(journals) == 3:
            return folder, {"kind": "update", "parity": 2, "digest": new if is_begun else old}
    raise SystemExit("update has more calls than were expected")


def crashed_array(work, lost, is_grown=False):
    """Killed with batches in its log; `lost` members went away while it was written."""
    content = random.Random(3).randbytes(200_000)
    with lab.Lab(data=3, parity=2, member=512 * lab.KIB,
                 more=("--chunk", "8K", "--log", "64K", "--size", "300K")) as array:
        folder = work / "image"
        folder.mkdir()
        array.start()
        if lost:
            array.array("fail", "--member", 1, "--control", array.control)
        if is_grown:
            for bytes_ in (400 << 10, 500 << 10):
                array.array("grow", "--size", bytes_, "--control", array.control)
        client = array.client()
        size = client.get_size()
        held = bytearray(size)
        if is_grown:  # over the end of a segment
            client.pwrite(content[:70_000], size - 120_000)
            held[size - 120_000:size - 50_000] = content[:70_000]
        for at, part in ((0, content[:150_000]), (5000, content[150_000:155_000]),
                         (98304, content[160_000:164_096])):
            client.pwrite(part, at)
            held[at:at + len(part)] = part
        client.flush()
        client.pwrite(content[:4096], 65536)
        held[65536:65536 + 4096] = content[:4096]
        client.flush()
        array.kill()
        for path in array.members:
            shutil.copy(path, folder / path.name)
        return folder, {"kind": "array", "parity": 2 - lost,
                        "digest": image.hashlib.sha256(held).hexdigest()}


def main():
    calpe, faults, names = sys.argv[1], sys.argv[3], sys.argv[4:]
    makers = {
        f"{SHARDS}-hybrid": lambda work: protect(calpe, work, 4, 2),
        f"{SHARDS}-lch": lambda work: protect(calpe, work, 6, 5, "--profile", "lch"),
        f"{SHARDS}-lrc": lambda work: protect(calpe, work, 6, 4, "--profile", "lrc", "--groups",
                                              "2"),
        f"{SHARDS}-cauchy-root": lambda work: protect(calpe, work, 3, 3, "--profile", "cauchy",
                                                      "--root"),
        f"{ORIGINALS}-originals": lambda work: keep_original(calpe, work),
        f"{SHARDS}-update-journals": lambda work: interrupted_update(calpe, faults, work, False),
        f"{SHARDS}-update-begun": lambda work: interrupted_update(calpe, faults, work, True),
        f"{ARRAY}-crashed": lambda work: crashed_array(work, 0),
        f"{ARRAY}-degraded": lambda work: crashed_array(work, 1),
        f"{GROWN}-grown": lambda work: crashed_array(work, 0, True),
    }
    for name, make in makers.items():
        if names and name not in names:
            continue
        target = image.HERE / f"{name}.tar.xz"
        if target.exists():
            raise SystemExit(f"{target} is there: images are never made again")
        with tempfile.TemporaryDirectory() as work:
            place = pathlib.Path(work, "work")
            place.mkdir()
            image.pack(*make(place), target)
        print(f"{name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    lab.use_debians_python()
    main()
