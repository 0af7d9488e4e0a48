#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roots and keys of the file commands: protect, verify, repair, restore, update, info.

usage: roots_test.py REPOSITORY CALPE
The forger knows the format but not the key, so forged blocks and headers have matching checksums.
verify finds each forgery, and restore with a key does not use it.
"""
import dataclasses
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1]).resolve()
calpe = str(pathlib.Path(sys.argv[2]).resolve())
sys.path.insert(0, str(root / "tests" / "format"))
import reader  # noqa: E402, pylint: disable=wrong-import-position
import shard_format as fmt  # noqa: E402, pylint: disable=wrong-import-position

NONE = {"root_kind": 0, "shard_root": bytes(32), "set_root": bytes(32), "hmac": bytes(32),
        "path": bytes(256)}


def expect(claim, text):
    if not claim:
        sys.exit(f"roots_test: {text}")


def run(*arguments, code=0, words=""):
    done = subprocess.run([calpe, *map(str, arguments)], capture_output=True, timeout=60,
                          check=False)
    done.text = done.stdout.decode(errors="replace")
    done.errors = done.stderr.decode(errors="replace")
    expect(done.returncode == code, f"{arguments}: exit {done.returncode}; expected {code}: "
           f"{done.text[:2000]}{done.errors}")
    expect(words in done.text + done.errors, f"{arguments}: no {words!r} in {done.text}"
           f"{done.errors}")
    return done


def answer(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more).stdout)


def forge_header(file, /, **fields):
    shard = reader.open_shard(file)
    own = fmt.header_to_bytes(dataclasses.replace(shard.header, **fields))
    file.write_bytes(own + shard.raw[4096:-4096] + own)


def forge_block(path, stripe):
    shard = reader.open_shard(path)
    h, raw = shard.header, bytearray(shard.raw)
    at, place = h.block_offset(stripe), h.checksum_offset(stripe)
    raw[at + 9] ^= 0x40
    block = bytes(raw[at:at + h.block_bytes])
    raw[place:place + 8] = h.block_checksum(stripe, h.index, block).to_bytes(8, "little")
    path.write_bytes(raw)


class Place:
    """A 3+2 set with an HMAC, its key, and a directory to restore to."""

    def __init__(self, folder):
        self.folder, self.shards, self.out = folder, folder / "shards", folder / "out"
        self.key, self.other = folder / "key", folder / "other key"
        self.key.write_bytes(b"sixteen bytes at least\n")
        self.other.write_bytes(b"sixteen bytes at least")
        self.key.chmod(0o600)
        self.other.chmod(0o600)
        self.source = folder / "film"
        self.source.write_bytes(random.Random(1).randbytes(50000))
        made = answer("protect", self.source, "--data", 3, "--parity", 2, "--block-bytes", 1024,
                      "--key-file", self.key, "-o", self.shards)
        self.root = made["set"]["root"]
        expect(made["set"]["root_kind"] == "hmac" and len(self.root) == 64, f"{made}")
        self.whole = folder / "whole"
        shutil.copytree(self.shards, self.whole)

    def paths(self):
        return sorted(self.shards.iterdir())

    def reset(self):
        shutil.rmtree(self.shards)
        shutil.copytree(self.whole, self.shards)

    def restore(self, *options, code=0, words=""):
        self.out.unlink(missing_ok=True)
        done = run("restore", self.shards, "-o", self.out, *options, code=code, words=words)
        if code == 0:
            expect(self.out.read_bytes() == self.source.read_bytes(), f"{options}: other bytes")
        else:
            expect(not self.out.exists(), f"{options}: refused, but restored")
        return done

    def is_whole(self):
        return ([path.read_bytes() for path in self.paths()] ==
                [path.read_bytes() for path in sorted(self.whole.iterdir())])


def check_whole(place):
    """Output of each command for an intact set."""
    report = answer("verify", place.shards, "--key-file", place.key)
    expect(report["hmac"] == "good" and report["set"]["root"] == place.root, f"{report}")
    expect({shard["root"] for shard in report["shards"]} == {"good"}, f"{report}")
    expect(answer("verify", place.shards)["hmac"] == "not checked", "no key")
    run("verify", place.shards, words=f"root {place.root}, HMAC not checked (no --key-file)")
    run("verify", place.shards, "--key-file", place.key, words=f"root {place.root}, HMAC matches")
    run("verify", place.shards, "--expect-root", place.root.upper())
    run("info", place.shards, words=f"root     {place.root}, with HMAC")
    expect(answer("info", place.shards)["sets"][0]["set"]["root"] == place.root, "info")
    place.restore(words="the HMAC of the set was not checked")
    for options in (["--key-file", place.key], ["--root-check"], ["--expect-root", place.root]):
        place.restore(*options)
    told = answer("restore", place.shards, "-o", place.out, "--overwrite", "--key-file", place.key)
    expect((told["root_checked"], told["hmac"], told["not_used"]) == (True, "good", []), f"{told}")
    # Another key, another root.
    words = "was not made with this key"
    run("verify", place.shards, "--key-file", place.other, code=2, words=words)
    place.restore("--key-file", place.other, code=2, words=words)
    place.restore("--expect-root", "0" * 64, code=2, words=f"its root is {place.root}; expected 00")
    run("verify", place.shards, "--expect-root", "0" * 64, code=2, words="its root is")
    place.restore("--expect-root", "12", code=3, words="64 hexadecimal digits")
    place.restore("--key-file", place.folder / "none", code=4, words="none")
    place.restore("--key-file", place.folder, code=4, words="key file")
    short = place.folder / "short"
    short.write_bytes(b"fifteen bytes..")
    short.chmod(0o600)
    run("protect", place.source, "--key-file", short, "-o", place.folder / "x", code=3,
        words="15 bytes; expected 16 .. 4096")


def check_forged(place):
    """Every forgery of m shards is found, not used, and repaired without the key."""
    forgeries = {
        "a block": lambda path: forge_block(path, 3),
        "its root": lambda path: forge_header(path, shard_root=b"r" * 32),
        "its path": lambda path: forge_header(
            path, path=b"p" * 32 + reader.open_shard(path).header.path[32:]),
        "the set's root": lambda path: forge_header(path, set_root=b"s" * 32),
        "the HMAC": lambda path: forge_header(path, hmac=b"h" * 32),
        "no root": lambda path: forge_header(path, **NONE),
        "the name": lambda path: forge_header(path, name=b"evil"),
    }
    for name, forge in forgeries.items():
        place.reset()
        forge(place.paths()[0])
        forge(place.paths()[4])
        report = answer("verify", place.shards, "--key-file", place.key, code=1)
        bad = [shard["index"] for shard in report["shards"] if shard["problem"]]
        expect(bad == [0, 4], f"{name}: {report}")
        for options in (["--key-file", place.key], ["--expect-root", place.root]):
            place.restore(*options)
    place.reset()
    for number in (0, 4):
        forge_block(place.paths()[number], 3)
    run("verify", place.shards, code=1, words="it does not match its root")
    place.restore("--root-check", words="does not match the root; not used")
    run("repair", place.shards, words="repaired, ")
    expect(place.is_whole(), "repaired without the key to other bytes")
    forge_block(place.paths()[2], 0)
    forge_block(place.paths()[3], 0)
    forge_block(place.paths()[4], 1)
    run("verify", place.shards, code=2, words="Not repairable")
    place.restore("--key-file", place.key, code=2)
    forged = [path.read_bytes() for path in place.paths()]
    run("repair", place.shards, code=2)
    expect([path.read_bytes() for path in place.paths()] == forged, "repair changed something")


def check_all_forged(place):
    """All headers agree, but the owner did not write them."""
    for fields, options, words in (
            (NONE, ["--key-file", place.key], "it has no root"),
            (NONE, ["--root-check"], "it has no root"),
            (NONE, ["--expect-root", place.root], "it has no root"),
            ({"root_kind": 1, "hmac": bytes(32)}, ["--key-file", place.key], "no HMAC"),
            ({"hmac": b"h" * 32}, ["--key-file", place.key], "was not made with this key"),
            ({"name": b"evil"}, ["--key-file", place.key], "no shard matches its root"),
            ({"generation": 9}, ["--expect-root", place.root], "no shard matches its root")):
        place.reset()
        for path in place.paths():
            forge_header(path, **fields)
        place.restore(*options, code=2, words=words)
    # Another set replaces it, made with another key or without one.
    for options in (["--key-file", place.other], ["--root"], []):
        shutil.rmtree(place.shards)
        run("protect", place.source, "--data", 3, "--parity", 2, "-o", place.shards, *options)
        place.restore("--key-file", place.key, code=2)
        place.restore("--expect-root", place.root, code=2)
    # Next to the right set it does no harm.
    for path in sorted(place.whole.iterdir()):
        shutil.copy(path, place.shards / f"right {path.name}")
    place.restore("--key-file", place.key)


def check_lost(place):
    """Rebuilt shards have their roots, without the key."""
    place.reset()
    for number in (1, 3):
        place.paths()[number].unlink()
        run("repair", place.shards)
        expect(place.is_whole(), f"shard {number}: rebuilt with other bytes")


def check_update(place):
    """A new generation has a new root and HMAC, and needs the key and proven shards."""
    place.reset()
    content = bytearray(place.source.read_bytes())
    content[20000:20010] = b"0123456789"
    place.source.write_bytes(content)
    run("update", place.source, place.shards, code=3, words="its key is needed")
    run("update", place.source, place.shards, "--key-file", place.other, code=2,
        words="was not made with this key")
    forge_block(place.paths()[4], 2)
    run("update", place.source, place.shards, "--key-file", place.key, code=1,
        words="does not match its root; run calpe repair first")
    run("repair", place.shards)
    expect(place.is_whole(), "a refused update changed something")
    updated = answer("update", place.source, place.shards, "--key-file", place.key)
    after = updated["set"]["root"]
    expect(after != place.root and len(after) == 64, f"{updated}")
    place.restore("--key-file", place.key, "--expect-root", after)
    found = reader.choose_set([place.shards])
    expect(reader.verify(found, place.key.read_bytes()) == ([], []), "second reader")
    # All old shards put back: only the root detects it.
    place.reset()
    run("verify", place.shards, "--key-file", place.key)
    place.restore("--key-file", place.key, "--expect-root", after, code=2, words="its root is")


def main():
    with tempfile.TemporaryDirectory() as name:
        place = Place(pathlib.Path(name))
        for check in (check_whole, check_forged, check_all_forged, check_lost,
                      check_update):
            check(place)
    print("roots_test: good")


if __name__ == "__main__":
    main()
