#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The next step that a command prints fits the case, and printed commands work: advice.py CALPE"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, IO, USAGE,  # noqa: E402, pylint: disable=wrong-import-position
                     expect)


def lrc_notes(calpe, folder, chance):
    """The note of protect agrees with verify, which asks the code about each directory."""
    source = folder / "word"
    source.write_bytes(chance.randbytes(50000))
    lrc = ["protect", source, "--profile", "lrc", "--data", 6, "--parity", 4, "--groups", 2,
           "--json"]
    noted = set()
    for count in (2, 3, 4, 5):
        places = [folder / f"{count}-{number}" for number in range(count)]
        outputs = [word for place in places for word in ("-o", place)]
        notes = json.loads(calpe.must(GOOD, *lrc, *outputs).text)["notes"]
        verified = json.loads(calpe.must(GOOD, "verify", *places, "--json").text)
        losses = verified["directories_that_may_still_be_lost"]
        expect(len(notes) == (losses == 0), f"{count} directories, {losses}: {notes}")
        noted.add(losses == 0)
        enough = re.search("with ([0-9]+) directories, any one may be lost", "".join(notes))
        expect(bool(enough) == (losses == 0), f"{notes}")
    expect(noted == {True, False}, "only one of the two cases occurred")


def changed_originals(calpe, folder, chance):
    """verify and repair agree about files that were changed on purpose."""
    source, place = folder / "kept", folder / "kept-parity"
    source.mkdir()
    for name in "ab":
        (source / name).write_bytes(chance.randbytes(30000))
    calpe.must(GOOD, "protect", source, "--keep-original", "--data", 2, "--parity", 2, "-o",
               place)
    given = [place, "--original", source]
    (source / "a").write_bytes(b"new")
    done = calpe.must(DAMAGED, "verify", *given)
    expect("all can be repaired.\n1 file changed since protect, which repair keeps: run calpe "
           "update to protect the change, or calpe repair --overwrite to undo it.\n" in done.text,
           done.text)
    (source / "b").unlink()
    done = calpe.must(DAMAGED, "verify", *given)
    expect("all can be repaired: run calpe repair with the same directories.\n1 file changed"
           in done.text, done.text)
    calpe.must(DAMAGED, "repair", *given)
    expect((source / "a").read_bytes() == b"new", "repair did not keep the change")
    calpe.must(GOOD, "repair", "--overwrite", *given)
    calpe.must(GOOD, "verify", *given)


def unused_exclude(calpe, folder, chance):
    """update notes a pattern that matches nothing, as protect does."""
    source, place = folder / "source", folder / "place"
    source.mkdir()
    (source / "a").write_bytes(chance.randbytes(3000))
    (source / "b.tmp").write_bytes(b"1")
    calpe.must(GOOD, "protect", source, "--data", 2, "--parity", 1, "-o", place)
    for options in (("--dry-run",), ()):
        done = calpe.must(GOOD, "update", source, place, "--exclude", "b.tmp", "--exclude",
                          "c.tmp", *options)
        expect("note: --exclude c.tmp matches nothing\n" in done.errors and
               "b.tmp matches" not in done.errors, done.errors)


def next_steps(calpe, folder, chance):
    """The next step that each command prints fits the case."""
    source, places = folder / "source", [folder / name for name in ("a", "b", "c")]
    source.mkdir()
    (source / "data").write_bytes(chance.randbytes(30000))
    outputs = [word for place in places for word in ("-o", place)]
    calpe.must(GOOD, "protect", source, "--data", 4, "--parity", 2, *outputs)
    done = calpe.must(GOOD, "verify", *places)
    expect("You can still lose any 2 of 6 shards, or any 1 of 3 directories. "
           "All shards are on one device.\n" in done.text, done.text)
    shutil.rmtree(places[1])
    for given in (places, [places[0], places[2]]):
        done = calpe.must(DAMAGED, "verify", *given)
        expect("run calpe repair with these directories and one on the replacement disk.\n"
               in done.text, done.text)
        expect("Losing one more shard or directory may lose data." in done.text, done.text)
    done = calpe.must(DAMAGED, "update", source, *places)
    expect("nothing changed, but 2 of 6 shards are missing." in done.text, done.text)
    expect("2 of 6 shards are missing; run calpe repair\n" in done.errors, done.errors)
    done = calpe.must(GOOD, "repair", *places)
    expect("new shards are next to others, so losing one directory may lose data" in done.errors,
           done.errors)
    expect("Losing one directory may lose data." in done.text, done.text)
    new = folder / "new"
    new.mkdir()
    moves = re.search("to spread them: (mv .*)", calpe.must(GOOD, "verify", *places, new).errors)
    subprocess.run(moves[1], shell=True, check=True)
    done = calpe.must(GOOD, "verify", places[0], places[2], new)
    expect("any 1 of 3 directories" in done.text, done.text)
    next(iter(new.iterdir())).unlink()
    done = calpe.must(DAMAGED, "verify", places[0], places[2], new)
    expect("run calpe repair with the same directories.\n" in done.text, done.text)
    done = calpe.must(GOOD, "repair", places[0], places[2], new)
    expect("next to others" not in done.errors, done.errors)

    done = calpe.must(IO, "protect", folder / "nofile", "-o", folder / "x")
    expect("nofile" in done.errors and "another -o" not in done.errors, done.errors)
    done = calpe.must(IO, "verify", folder / "nodir")
    expect("continuing without it" not in done.errors and done.errors.count("nodir") == 1,
           done.errors)
    expect("lost disks" not in done.errors, done.errors)


def moves_with_journals(calpe, folder, chance):
    """The printed moves take the undo journals along, and journals left behind are counted."""
    source, places = folder / "source", [folder / name for name in ("a", "b", "c")]
    source.mkdir()
    for place in places:
        place.mkdir()
    old = chance.randbytes(30000)
    (source / "data").write_bytes(old)
    calpe.must(GOOD, "protect", source, "--data", 2, "--parity", 1, "-o", places[2])
    (source / "data").write_bytes(chance.randbytes(30000))
    calpe.must(GOOD, "update", source, places[2])
    before = command.read_files(*places)
    previous = ("--generation", "previous")

    def losses():
        done = calpe.must(GOOD, "verify", *places, *previous, "--json")
        return json.loads(done.text)["directories_that_may_still_be_lost"]

    moves = re.search("to spread them: (mv .*)", calpe.must(GOOD, "verify", *places).errors)[1]
    subprocess.run(moves, shell=True, check=True)
    expect(losses() == 1, f"previous generation after {moves}")
    for place in places:
        expect(len(list(place.glob("*.calpe"))) == len(list(place.glob(".calpe-*.undo"))) == 1,
               f"{place}: {list(place.iterdir())}")
        place.rename(folder / "lost")
        rest = [other for other in places if other != place]
        out = folder / f"without-{place.name}"
        calpe.must(GOOD, "restore", *rest, "-o", out, *previous)
        expect((out / "data").read_bytes() == old, f"not as it was without {place.name}")
        (folder / "lost").rename(place)

    # Only the shards were moved.
    command.write_files(before, *places)
    for move in moves.split(" && "):
        if ".undo" not in move:
            subprocess.run(move, shell=True, check=True)
    expect(losses() == 0, "journals that are in another directory than their shards")


def wrong_original(calpe, folder, chance):
    """A wrong path of kept originals is wrong usage, not lost data."""
    source, parity = folder / "my source", [folder / "p1", folder / "p2"]
    source.mkdir()
    content = chance.randbytes(30000)
    (source / "data").write_bytes(content)
    outputs = [word for place in parity for word in ("-o", place)]
    keep = ["protect", source, "--keep-original"]
    done = calpe.must(GOOD, *keep, "--data", 4, "--parity", 2, *outputs)
    line = re.search("To check them: calpe (verify .*)", done.text)
    expect(line and "--original" in line[1], done.text)
    subprocess.run(f"{calpe.program} {line[1]}", shell=True, check=True, capture_output=True)
    (folder / "other").mkdir()
    (folder / "other/thing").write_bytes(b"thing")
    before = command.read_files(*parity)
    for verb in ("verify", "repair"):
        for wrong in (folder / "other", folder / "nowhere"):
            done = calpe.must(USAGE, verb, *parity, "--original", wrong)
            expect(f"no file of the set is in {wrong}; give its path with --original"
                   in done.errors, done.errors)
    expect(command.read_files(*parity) == before, "parity changed")
    expect(not (folder / "nowhere").exists(), "a wrong path was created")
    # With as much parity as data, everything can be lost.
    calpe.must(GOOD, *keep, "--data", 2, "--parity", 2, "-o", folder / "much")
    calpe.must(GOOD, "repair", folder / "much", "--original", folder / "again")
    expect((folder / "again/data").read_bytes() == content, "not recreated")
    # Another size, but the same time: rot that update must not take over.
    status = (source / "data").stat()
    (source / "data").write_bytes(content[:29000])
    os.utime(source / "data", ns=(status.st_atime_ns, status.st_mtime_ns))
    done = calpe.must(DAMAGED, "update", source, *parity)
    expect("another size but the same time" in done.errors, done.errors)


def work(calpe, folder, chance):
    cases = (lrc_notes, next_steps, moves_with_journals, wrong_original, changed_originals,
             unused_exclude)
    for case in cases:
        place = folder / case.__name__
        place.mkdir()
        case(calpe, place, chance)
    return f"{len(cases)} cases"


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "advice", lambda folder, chance: work(calpe, folder, chance), fixed_seed=25)


if __name__ == "__main__":
    sys.exit(main())
