#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets that `calpe` wrote are restored by the second reader, and the other way round.

usage: command_test.py CALPE. Random trees, of which up to m shards are lost and blocks are
damaged, a file, a stream, and manifests that would write elsewhere. The seed is printed.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import reader
import shard_format as fmt
import writer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
import trees  # noqa: E402, pylint: disable=wrong-import-position

SHAPES = [("default", 4, 2), ("default", 1, 1), ("default", 10, 4), ("default", 6, 5),
          ("cauchy", 3, 3), ("vandermonde", 5, 2), ("raid6", 3, 2), ("vandermonde-zfec", 4, 2)]
CALPE = sys.argv[1]


def calpe(*arguments, code=0, **options):
    done = subprocess.run([CALPE, *map(str, arguments)], capture_output=True, check=False,
                          **options)
    if done.returncode != code:
        sys.exit(f"calpe {arguments}: exit {done.returncode}; expected {code}:\n"
                 f"{done.stdout[:2000]!r}\n{done.stderr.decode(errors='replace')}")
    return done


def expect(condition, text):
    if not condition:
        sys.exit(f"command_test: {text}")


def expect_same(expected, folder, text):
    different = trees.difference(expected, trees.snapshot(folder))
    expect(different is None, f"{text}: {different}")


def lose_and_damage(targets, m, chance):
    """m shards in all: some files are lost, the others have a bad byte in every block."""
    paths = sorted(path for target in targets for path in target.iterdir())
    chosen = chance.sample(paths, m)
    for path in chosen:
        if chance.random() < 0.5:
            path.unlink()
            continue
        shard = reader.open_shard(path)
        raw = bytearray(shard.raw)
        for stripe in range(shard.header.stripes):
            place = shard.header.block_offset(stripe) + chance.randrange(64)
            raw[place] ^= chance.randrange(1, 256)
        path.write_bytes(raw)


def round_trip(folder, shape, chance):
    """Both directions of one tree."""
    profile, k, m = shape
    tree, targets = folder / "tree", [folder / "one", folder / "two"]
    trees.random_tree(tree, chance, 30000)
    expected = trees.snapshot(tree)
    block_bytes = chance.choice([64, 256, 4096])
    calpe("protect", tree, "--data", k, "--parity", m, "--profile", profile, "--block-bytes",
          block_bytes, "-o", targets[0], "-o", targets[1])
    found = reader.choose_set(targets)
    expect(reader.verify(found) == ([], []), f"{shape}: a set of calpe is good")
    expect((found.header.k, found.header.m, found.header.block_bytes) == (k, m, block_bytes),
           f"{shape}: the shape is the one asked for")
    lose_and_damage(targets, m, chance)
    reader.restore(reader.choose_set(targets), folder / "by reader")
    expect_same(expected, folder / "by reader", f"{shape}: restored by the reader")
    for target in targets:
        shutil.rmtree(target)

    family = ("hybrid" if m <= 4 else "lch") if profile == "default" else profile
    paths = writer.write(tree, targets, k=k, m=m, family=family, block_bytes=block_bytes)
    written = {path: path.read_bytes() for path in paths}
    calpe("verify", *targets)
    lose_and_damage(targets, m, chance)
    calpe("verify", *targets, code=1)
    calpe("restore", *targets, "-o", folder / "by calpe")
    expect_same(expected, folder / "by calpe", f"{shape}: restored by calpe")
    calpe("repair", *targets)
    calpe("verify", *targets)
    repaired = [path.read_bytes() for target in targets for path in target.iterdir()]
    expect(sorted(repaired) == sorted(written.values()), f"{shape}: repaired byte for byte")


def file_and_stream(folder, chance):
    content = chance.randbytes(100001)
    (folder / "a file").write_bytes(content)
    calpe("protect", folder / "a file", "--data", 3, "--parity", 2, "-o", folder / "f")
    reader.restore(reader.choose_set([folder / "f"]), folder / "file out")
    expect((folder / "file out" / "a file").read_bytes() == content, "a file")
    calpe("protect", "-", "--data", 3, "--parity", 2, "-o", folder / "s", input=content)
    reader.restore(reader.choose_set([folder / "s"]), folder / "stream out")
    expect((folder / "stream out" / "stream").read_bytes() == content, "a stream")
    calpe("protect", "-", "--data", 3, "--parity", 2, "-o", folder / "e", input=b"")
    reader.restore(reader.choose_set([folder / "e"]), folder / "empty out")
    expect((folder / "empty out" / "stream").read_bytes() == b"", "an empty stream")


def many_groups(folder, chance):
    """More than 512 stripes: a second page of checksums."""
    (folder / "long").write_bytes(chance.randbytes(3 * 64 * 1100 + 5))
    calpe("protect", folder / "long", "--data", 3, "--parity", 1, "--block-bytes", 64, "-o",
          folder / "g")
    found = reader.choose_set([folder / "g"])
    expect(found.header.stripes > 1024, "three groups")
    next(iter((folder / "g").iterdir())).unlink()
    problems, lost = reader.verify(reader.choose_set([folder / "g"]))
    expect((len(problems), lost) == (1, []), "three groups without a shard")


def rooted(folder, chance):
    """Roots and HMAC of either are good for the other; what is repaired has them, too."""
    key = folder / "key"
    key.write_bytes(chance.randbytes(40) + b"\n")
    key.chmod(0o600)
    (folder / "r").write_bytes(chance.randbytes(3 * 64 * 700 + 5))
    root = calpe("protect", folder / "r", "--data", 3, "--parity", 2, "--block-bytes", 64, "-o",
                 folder / "by calpe", "--key-file", key).stdout.decode()
    found = reader.choose_set([folder / "by calpe"])
    expect(found.header.set_root.hex() in root and found.header.stripes > 512, f"root: {root}")
    expect(reader.verify(found, key.read_bytes()) == ([], []), "roots of calpe are good")
    paths = writer.write(folder / "r", [folder / "by writer"], k=3, m=2, block_bytes=64,
                         key=key.read_bytes())
    written = [path.read_bytes() for path in paths]
    calpe("verify", folder / "by writer", "--key-file", key)
    calpe("verify", folder / "by writer", "--key-file", CALPE, code=3)  # too long
    chance.choice(paths).unlink()
    calpe("repair", folder / "by writer")
    expect([path.read_bytes() for path in paths] == written, "a repaired shard has its root")


def originals(folder, shape, chance):
    """Parity of a tree that stays: some of both is destroyed, the reader restores the tree."""
    profile, k, m = shape
    block_bytes = chance.choice([64, 256, 4096])
    tree = folder / "tree"
    trees.random_tree(tree, chance, 30000)
    expected = trees.snapshot(tree)
    calpe("protect", tree, "--keep-original", "--data", k, "--parity", m, "--profile", profile,
          "--block-bytes", block_bytes)
    paths = sorted(folder.glob("*.calpe"))
    expect(len(paths) == m, f"{shape}: {len(paths)} parity files")
    found = reader.choose_set([folder])
    expect(reader.verify(found) == ([], []), f"{shape}: parity of calpe is good")
    lost_parity = chance.randrange(m)  # at least one must stay
    for path in chance.sample(paths, lost_parity):
        path.unlink()
    # m - lost parts of the data: each is one block of every stripe.
    lost_parts = set(chance.sample(range(k), min(k, m - lost_parity)))
    part = found.header.stripes * found.header.block_bytes
    for e in found.manifest():
        for in_file, in_content, size in e.extents:
            with open(found.place_of(e), "r+b") as file:
                for at in range(size):
                    if (in_content + at) // part in lost_parts:
                        file.seek(in_file + at)
                        file.write(b"\x55")
    if lost_parity:
        calpe("verify", folder, code=1)
    reader.restore(reader.choose_set([folder]), folder / "by reader")
    expect_same(expected, folder / "by reader", f"{shape}: originals restored by the reader")
    calpe("restore", folder, "-o", folder / "by calpe")
    expect_same(expected, folder / "by calpe", f"{shape}: originals restored by calpe")
    calpe("repair", folder, "--overwrite")
    expect_same(expected, tree, f"{shape}: originals repaired")
    expect(reader.verify(reader.choose_set([folder])) == ([], []), f"{shape}: all is good again")


def write_hostile(target, entries, data):
    """A set with good checksums and this manifest."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    manifest = fmt.manifest_to_bytes(entries)
    options = {"k": 2, "m": 1, "family": "hybrid", "block_bytes": 64, "name": b"evil"}
    header = writer.make_header(data, manifest, options)
    for i, shard in enumerate(writer.shards_of(data, manifest, header)):
        (target / f"evil.s{i:03d}.calpe").write_bytes(shard)


def hostile_manifests(folder):
    """The author of the shards cannot write outside of the folder that is restored to."""
    target, out, outside = folder / "h", folder / "h out", folder / "outside"
    outside.mkdir()
    data = b"evil bytes"

    def file(path):
        return fmt.Entry(fmt.FILE, path, mode=0o644, file_bytes=len(data),
                         extents=[(0, 0, len(data))])

    def link(path):
        return fmt.Entry(fmt.LINK, path, bytes(outside))

    root = fmt.Entry(fmt.FOLDER, b"", mode=0o755)
    refused = [
        [root, file(b"../outside/evil")], [root, file(bytes(outside) + b"/evil")],
        [root, link(b"l"), file(b"l/evil")], [root, link(b"l"), fmt.Entry(fmt.FOLDER, b"l")],
        [root, file(b"a/../../outside/evil")], [root, file(b"..")], [file(b"../outside/evil")],
    ]
    for entries in refused:
        write_hostile(target, entries, data)
        calpe("restore", target, "-o", out, code=2)
        calpe("restore", target, "-o", out, "--overwrite", code=2)
        expect(not list(outside.iterdir()), f"{entries}: something is outside")
        expect(not out.exists(), f"{entries}: something was restored")
    # A good manifest, but the folder already has a link where the manifest has a folder.
    write_hostile(target, [root, fmt.Entry(fmt.FOLDER, b"d", mode=0o755), file(b"d/evil")], data)
    out.mkdir()
    (out / "d").symlink_to(outside)
    done = subprocess.run([CALPE, "restore", target, "-o", out, "--overwrite"], check=False,
                          capture_output=True)
    expect(done.returncode in (0, 4), f"a link in the way: exit {done.returncode}")
    expect(not list(outside.iterdir()), "a link was followed")


def main():
    seed = int(os.environ.get("CALPE_TEST_SEED") or time.time_ns() % 10**9)
    print(f"CALPE_TEST_SEED={seed}", flush=True)
    chance = random.Random(seed)
    for shape in SHAPES:
        with tempfile.TemporaryDirectory(prefix="calpe-format-") as folder:
            round_trip(pathlib.Path(folder), shape, chance)
        with tempfile.TemporaryDirectory(prefix="calpe-format-") as folder:
            originals(pathlib.Path(folder), shape, chance)
    with tempfile.TemporaryDirectory(prefix="calpe-format-") as folder:
        file_and_stream(pathlib.Path(folder), chance)
        many_groups(pathlib.Path(folder), chance)
        rooted(pathlib.Path(folder), chance)
        hostile_manifests(pathlib.Path(folder))
    print(f"format: {len(SHAPES)} codes in both directions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
