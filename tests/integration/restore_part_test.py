#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calpe restore of a part of a set, and of what is left of a damaged one.

usage: restore_part_test.py REPOSITORY CALPE
"""
import pathlib
import shutil
import tempfile

from files_test import answer, damage, data, expect, run, shards_in


def check_part(folder):
    """--only and --range restore a part; what matches nothing is an error and writes nothing."""
    source, target = folder / "shelf", folder / "shelf.shards"
    (source / "2024").mkdir(parents=True)
    for name in ("2024/one.jpg", "2024/two.txt", "three.jpg"):
        (source / name).write_bytes(data(30000, len(name)))
    run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target)
    shards_in(target)[1].unlink()

    def restored(*options):
        back = folder / "part"
        run("restore", target, "-o", back, *options)
        found = {str(path.relative_to(back)): path.read_bytes()
                 for path in back.rglob("*") if path.is_file()}
        shutil.rmtree(back)
        return found

    for patterns, names in ((["2024"], ["2024/one.jpg", "2024/two.txt"]),
                            (["*.jpg"], ["2024/one.jpg", "three.jpg"]),
                            (["2024/two.txt", "three.jpg"], ["2024/two.txt", "three.jpg"])):
        options = [word for pattern in patterns for word in ("--only", pattern)]
        expect(restored(*options) == {name: (source / name).read_bytes() for name in names},
               f"{patterns}: other files")
    whole = (source / "2024/one.jpg").read_bytes()
    for text, part in (("10:20000", whole[10:20000]), (":5", whole[:5]), ("4K:", whole[4096:]),
                       ("7:7", b"")):
        done = run("restore", target, "-o", "-", "--only", "2024/one.jpg", "--range", text)
        expect(done.stdout == part, f"range {text}: other bytes")
    for options, words in ((["--only", "2025"], "matches nothing in the set; calpe info --files"),
                           (["--range", "0:5"], "--range takes one file, but 3 are selected"),
                           (["--only", "three.jpg", "--range", "0:30001"], "has 30000 bytes"),
                           (["--only", "three.jpg", "--range", "5"], "expected A:B"),
                           (["--only", "three.jpg", "--range", "1:2", "--resume"], "--resume")):
        done = run("restore", target, "-o", folder / "none", *options, code=3)
        expect(words in done.errors, f"{options}: {done.errors}")
        expect(not (folder / "none").exists(), f"{options}: something was written")


def check_salvage(folder):
    """--salvage restores all that is left, and lists what is not."""
    source, target, back = folder / "album2", folder / "album2.shards", folder / "album2.back"
    source.mkdir()
    for number in range(4):
        (source / f"song{number}").write_bytes(data(30000, number))
    run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target)
    paths = shards_in(target)
    for path in (paths[0], paths[3], paths[4]):
        damage(path, 4096 * 4 + 1)  # stripe 3: its first block, bytes 36864 to 40960
    done = run("restore", target, "-o", back, "--salvage", code=1)
    expect("song1: bytes 6864 to 10959 are lost; filled with zeros\n" in done.errors, done.errors)
    for number in range(4):
        wanted = bytearray((source / f"song{number}").read_bytes())
        if number == 1:
            wanted[6864:10960] = bytes(4096)
        expect((back / f"song{number}").read_bytes() == wanted, f"song{number}: other bytes")
    run("restore", target, "-o", folder / "whole", "--only", "song2", "--salvage")
    paths[1].unlink()
    paths[3].unlink()
    paths[4].unlink()
    done = run("restore", target, "-o", folder / "none", code=2)
    expect("too few shards" in done.errors and "--salvage" in done.errors, done.errors)
    expect(not (folder / "none").exists(), "something was written")
    shutil.rmtree(back)
    report = answer("restore", target, "-o", back, "--salvage", code=1)
    filled = {file["path"]: file["ranges"] for file in report["filled_with_zeros"]}
    for number in range(4):
        wanted = bytearray((source / f"song{number}").read_bytes())
        for part in filled.get(f"song{number}", []):
            wanted[part["offset"]:part["offset"] + part["bytes"]] = bytes(part["bytes"])
        expect((back / f"song{number}").read_bytes() == wanted, f"song{number}: not as listed")
    lost = sum(part["bytes"] for ranges in filled.values() for part in ranges)
    expect(40000 < lost < 46000, f"{lost} of 120000 bytes, with one of three data shards gone")


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_part, check_salvage):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(folder)
    print("restore_part_test: good")


if __name__ == "__main__":
    main()
