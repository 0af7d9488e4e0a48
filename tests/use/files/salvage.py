#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files with zeros in place of lost bytes never pass for complete ones: salvage.py CALPE

restore --salvage, then restore --resume with a good copy of the set, must give the protected
bytes. update must not call a salvaged file unchanged.
"""
import itertools
import json
import os
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import DAMAGED, GOOD, LOST  # noqa: E402, pylint: disable=wrong-import-position
from command import USAGE, expect  # noqa: E402, pylint: disable=wrong-import-position

BYTES = 3_000_000
SHAPE = ("--data", 4, "--parity", 2)


def overwrite(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(b"ZZ")


def damage(folder, shards=(0, 1, 2), offset=300000):
    for number in shards:
        (shard,) = folder.glob(f"*.s{number:03}.calpe")
        overwrite(shard, offset)


def salvaged(calpe, bad, out, *options):
    done = calpe.must(DAMAGED, "restore", bad, "-o", out, "--salvage", "--json", *options)
    return {file["path"] for file in json.loads(done.text)["filled_with_zeros"]}


def in_tree(calpe, folder, chance, when):
    """Some files of a directory are damaged; the time of the source is `when`."""
    source, bad, good, out = (folder / name for name in ("ph", "d", "good", "out"))
    source.mkdir()
    for name in "ab":
        (source / name).write_bytes(chance.randbytes(BYTES))
    (source / "small").write_bytes(b"small")
    for path in source.iterdir():
        os.utime(path, ns=(when, when))
    calpe.must(GOOD, "protect", source, *SHAPE, "-o", bad)
    shutil.copytree(bad, good)
    damage(bad)
    filled = salvaged(calpe, bad, out)
    expect(len(filled) == 1, f"filled: {filled}")
    (name,) = filled
    expect((out / name).read_bytes() != (source / name).read_bytes(), "nothing was lost")
    apart = abs((out / name).stat().st_mtime_ns - when)
    expect(apart > 2 * 10**9, f"the time of a salvaged file is {apart} ns from the original")
    for whole in {"a", "b", "small"} - filled:
        expect((out / whole).stat().st_mtime_ns == when, f"{whole} has another time")
    told = json.loads(calpe.must(GOOD, "update", out, good, "--dry-run", "--json").text)
    expect(name in told["changed"], f"update of the salvaged directory: {told}")
    done = calpe.must(GOOD, "restore", good, "-o", out, "--resume")
    expect("2 already complete" in done.text, done.text)
    for path in source.iterdir():
        copy = out / path.name
        expect(copy.read_bytes() == path.read_bytes(), f"{path.name} is not restored")
        expect(copy.stat().st_mtime_ns == when, f"{path.name} has another time")


def written_since(calpe, folder, chance):
    """--resume does not replace a salvaged file that was written to."""
    source, bad, good, out = (folder / name for name in ("ph", "d", "good", "out"))
    source.mkdir()
    (source / "a").write_bytes(chance.randbytes(BYTES))
    calpe.must(GOOD, "protect", source, *SHAPE, "-o", bad)
    shutil.copytree(bad, good)
    damage(bad)
    salvaged(calpe, bad, out)
    overwrite(out / "a", 5)
    done = calpe.must(USAGE, "restore", good, "-o", out, "--resume")
    expect("--overwrite" in done.errors, done.errors)
    calpe.must(GOOD, "restore", good, "-o", out, "--resume", "--overwrite")
    expect((out / "a").read_bytes() == (source / "a").read_bytes(), "not overwritten")


def single_file(calpe, folder, chance):
    source, bad, good, out = (folder / name for name in ("one", "d", "good", "out"))
    source.write_bytes(chance.randbytes(BYTES))
    calpe.must(GOOD, "protect", source, *SHAPE, "-o", bad)
    shutil.copytree(bad, good)
    damage(bad)
    salvaged(calpe, bad, out)
    told = json.loads(calpe.must(GOOD, "update", out, good, "--dry-run", "--json").text)
    expect(told["changed"], f"update of the salvaged file: {told}")
    calpe.must(GOOD, "restore", good, "-o", out, "--resume")
    expect(out.read_bytes() == source.read_bytes(), "not restored")
    done = calpe.must(GOOD, "restore", good, "-o", out, "--resume")
    expect("1 already complete" in done.text, done.text)


def kept_originals(calpe, folder, chance):
    source, parity, out = folder / "ph", folder / "d", folder / "out"
    source.mkdir()
    for name in "ab":
        (source / name).write_bytes(chance.randbytes(BYTES))
    calpe.must(GOOD, "protect", source, *SHAPE, "--keep-original", "-o", parity)
    kept = folder / "kept"
    shutil.copytree(source, kept)
    damage(parity, (4, 5))
    # At the same place of a part as the damage in the parity files.
    block = 300000 - 8192
    overwrite(source / "a", block)
    filled = salvaged(calpe, parity, out, "--original", source)
    expect(filled == {"a"}, f"filled: {filled}")
    shutil.rmtree(source)
    shutil.copytree(kept, source)
    done = calpe.must(GOOD, "restore", parity, "-o", out, "--original", source, "--resume")
    expect("1 already complete" in done.text, done.text)
    for path in kept.iterdir():
        expect((out / path.name).read_bytes() == path.read_bytes(), f"{path.name}: not restored")


def too_few(calpe, folder, chance):
    """--salvage is only proposed if it restores something."""
    source, target, out = folder / "few", folder / "d", folder / "out"
    source.mkdir()
    for name in "abc":
        (source / name).write_bytes(chance.randbytes(30000))
    calpe.must(GOOD, "protect", source, "--data", 3, "--parity", 1, "--block-bytes", 4096, "-o",
               target)
    shards = sorted(target.glob("*.calpe"))
    away = folder / "away"
    away.mkdir()
    proposed = 0
    for pair in itertools.combinations(shards, 2):
        for shard in pair:
            shard.rename(away / shard.name)
        done = calpe.must(LOST, "restore", target, "-o", out)
        is_proposed = "--salvage restores what they contain" in done.errors
        proposed += is_proposed
        salvage = calpe.run("restore", target, "-o", out, "--salvage")
        expect((salvage.returncode == DAMAGED) == is_proposed, done.errors + salvage.errors)
        if not is_proposed:
            expect("the list of files is in a lost part" in done.errors, done.errors)
            expect(salvage.returncode == LOST and "no file can be restored, even with --salvage" in
                   salvage.errors, salvage.errors)
        shutil.rmtree(out, ignore_errors=True)
        for shard in pair:
            (away / shard.name).rename(shard)
    expect(0 < proposed < 6, f"{proposed} of 6 pairs can be salvaged")


def work(calpe, folder, chance):
    now = time.time_ns()
    cases = [lambda *of, when=when: in_tree(*of, when)
             for when in (now, now - now % 10**9, now + 5 * 10**9, 10**18)]
    cases += [written_since, single_file, kept_originals, too_few]
    for number, case in enumerate(cases):
        own = folder / str(number)
        own.mkdir()
        case(calpe, own, chance)
    return f"{len(cases)} cases"


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "salvage", lambda folder, chance: work(calpe, folder, chance), fixed_seed=26)


if __name__ == "__main__":
    sys.exit(main())
