#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calpe restore of a part of a set, and of what is left of a damaged one.

usage: restore_part_test.py REPOSITORY CALPE
"""
import os
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


def check_partial_repair(folder):
    """repair --partial repairs the other stripes; what is lost stays lost and is listed."""
    source, target = folder / "tapes", folder / "tapes.shards"
    source.mkdir()
    for number in range(4):
        (source / f"song{number}").write_bytes(data(30000, number))
    run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target)
    paths = shards_in(target)
    whole = paths[1].read_bytes()
    paths[1].unlink()
    for path in (paths[0], paths[4]):
        damage(path, 4096 * 4 + 1)  # stripe 3: its first two blocks, bytes 36864 to 45056
    damage(paths[2], 4096 * 7 + 1)
    done = run("repair", target, code=2)
    expect("note: --partial repairs the other stripes" in done.errors, done.errors)
    expect(not paths[1].exists(), "a repair without --partial wrote something")
    done = run("repair", target, "--partial", code=1)
    expect("song1: bytes 6864 to 15055 are lost\n" in done.errors, done.errors)
    expect(f"created {paths[1]}\n" in done.text and f"repaired {paths[2]}\n" in done.text and
           "repaired in part, 10 blocks written; 1 of 10 stripes stay lost." in done.text,
           done.text)
    expect(str(paths[0]) not in done.text, "listed a shard that was not changed: " + done.text)
    report = answer("verify", target, code=2)
    expect(report["lost_stripes"] == [3] and report["bad_stripes"] == 1, report)
    done = run("repair", target, "--partial", code=2)
    expect("nothing could be repaired; 1 of 10 stripes stay lost." in done.text, done.text)
    report = answer("repair", target, "--partial", code=2)
    expect(report["state"] == "lost" and report["blocks_written"] == 0, report)
    expect(report["lost"] == [{"path": "song1", "ranges": [{"offset": 6864, "bytes": 8192}]}],
           report["lost"])
    run("restore", target, "-o", folder / "back", "--only", "song1", code=2)
    run("restore", target, "-o", folder / "back", "--only", "song1", "--salvage", code=1)
    wanted = bytearray((source / "song1").read_bytes())
    wanted[6864:15056] = bytes(8192)
    expect((folder / "back/song1").read_bytes() == wanted, "salvaged other bytes")
    (target / "found").write_bytes(whole)
    run("repair", target)
    run("restore", target, "-o", folder / "all")
    expect((folder / "all/song1").read_bytes() == (source / "song1").read_bytes(),
           "a shard found later did not repair it")
    for path in shards_in(target):
        path.unlink()
    run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target,
        "--name", "rooted", "--root")
    for path in shards_in(target)[:3]:
        damage(path, 4096 * 4 + 1)
    done = run("repair", target, "--partial", code=3)
    expect("the set has a root" in done.errors, done.errors)


def damage_in_secret(path, offset):
    """Damage with the old time: a new time means that the owner changed the file."""
    about = path.stat()
    damage(path, offset)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def check_partial_originals(folder):
    """Of kept originals, --partial restores the files that it can, and leaves all others."""
    source = folder / "notes"
    source.mkdir()
    for number in range(6):
        (source / f"note{number}").write_bytes(data(20480, number))
    run("protect", source, "--keep-original", "--data", 3, "--parity", 1, "--block-bytes", "4K")
    first = (source / "note0").read_bytes()
    (source / "note0").unlink()  # part 0
    damage_in_secret(source / "note2", 1)  # part 1, stripe 0: as the first block of note0
    done = run("repair", folder, code=2)
    expect(not (source / "note0").exists(), "repair without --partial restored a file")
    damage_in_secret(source / "note3", 20000)
    before = (source / "note2").read_bytes()
    report = answer("repair", folder, "--partial", code=1)
    expect(report["originals_restored"] == [str(source / "note3")], report)
    expect(sorted(report["originals_lost"]) ==
           [str(source / "note0"), str(source / "note2")], report)
    expect((source / "note3").read_bytes() == data(20480, 3), "note3 was not restored")
    expect((source / "note2").read_bytes() == before, "note2 was changed")
    expect(done.errors and not (source / "note0").exists(), "note0 was restored from nothing")
    (source / "note0").write_bytes(first)
    run("verify", folder, code=1)


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_part, check_salvage, check_partial_repair, check_partial_originals):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(folder)
    print("restore_part_test: good")


if __name__ == "__main__":
    main()
