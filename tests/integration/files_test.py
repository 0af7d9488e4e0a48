#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The file commands: protect, verify, repair, update, add-parity, restore, info.

usage: files_test.py REPOSITORY CALPE
Tests the text and JSON output, the exit codes and the errors of each command. tests/files covers
random damage.
"""
import hashlib
import json
import os
import pathlib
import pty
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(sys.argv[1]).resolve()
calpe = str(pathlib.Path(sys.argv[2]).resolve())
VERBS = ["protect", "verify", "repair", "update", "forget", "add-parity", "restore", "info"]


def expect(claim, text):
    if not claim:
        sys.exit(f"files_test: {text}")


def run(*arguments, code=0, **more):
    done = subprocess.run([calpe, *map(str, arguments)], capture_output=True, timeout=60,
                          check=False, **more)
    done.text = done.stdout.decode(errors="replace")
    done.errors = done.stderr.decode(errors="replace")
    expect(done.returncode == code, f"{arguments}: exit {done.returncode}; expected {code}: "
           f"{done.text[:2000]}{done.errors}")
    expect("\x1b" not in done.errors,
           f"{arguments}: progress bar without a terminal: {done.errors!r}")
    return done


def answer(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more).stdout)


def data(count, seed):
    return random.Random(seed).randbytes(count)


def shards_in(*folders):
    return sorted(p for folder in folders for p in folder.iterdir() if p.suffix != ".undo")


def damage(path, offset, length=6):
    with open(path, "r+b") as file:
        file.seek(offset)
        old = file.read(length)
        file.seek(offset)
        file.write(bytes(byte ^ 0x55 for byte in old))


def digests(*folders):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in shards_in(*folders)}


def make_tree(folder):
    """Creates links, holes, times, modes, empty files and directories."""
    (folder / "a/b").mkdir(parents=True)
    (folder / "empty folder").mkdir()
    (folder / "a/data").write_bytes(data(300000, 1))
    (folder / "a/b/empty").write_bytes(b"")
    (folder / "a/b/odd\nname").write_bytes(b"x")
    (folder / "program").write_bytes(data(5000, 2))
    (folder / "program").chmod(0o751)
    (folder / "a/out").symlink_to("/nowhere/at/all")
    (folder / "a/in").symlink_to("b/empty")
    with open(folder / "holes", "wb") as file:
        file.seek(3 << 20)
        file.write(b"in the middle")
        file.truncate(8 << 20)
    os.utime(folder / "program", ns=(10**18 + 7, 10**18 + 123456789))
    os.utime(folder / "empty folder", ns=(10**18, 987654321 * 10**9 + 5))


def look(folder):
    """Returns everything that a set stores of a tree."""
    seen = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        what = (os.readlink(path) if path.is_symlink() else
                hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        time_of = 0 if path.is_symlink() else status.st_mtime_ns
        seen[str(path.relative_to(folder))] = (oct(status.st_mode), time_of, what)
    return seen


def check_tree(folder):
    """A tree on three targets: complete, with a lost target, with moved and renamed shards."""
    source, targets = folder / "photos", [folder / name for name in ("t1", "t2", "t3")]
    make_tree(source)
    os.mkfifo(source / "pipe")
    outputs = [word for target in targets for word in ("-o", target)]
    made = answer("protect", source, "--data", 4, "--parity", 2, *outputs)
    expect(made["set"]["name"] == "photos" and made["set"]["data_shards"] == 4, f"{made}")
    expect(made["notes"] == ["pipe is not a file, directory or symbolic link; skipped"],
           f"{made['notes']}")
    for index, path in enumerate(made["shards"]):
        path = pathlib.Path(path)
        expect(path == targets[index % 3] / f"photos.s00{index}.calpe", f"shard {index}: {path}")
        expect(path.stat().st_size == made["shard_bytes"], f"{path}: {made['shard_bytes']} bytes")
    os.remove(source / "pipe")
    os.utime(source, ns=(10**18, 10**18))  # removing has changed it
    answer("protect", source, "--data", 4, "--parity", 2, *outputs, "--overwrite")

    text = run("verify", *targets).text
    expect("6 of 6 shards are good" in text, text)
    report = answer("verify", *targets, "--deep")
    expect(report["state"] == "good" and report["good_shards"] == 6, f"{report}")
    run("restore", *targets, "-o", folder / "back")
    expect(look(folder / "back") == look(source), f"{look(folder / 'back')} != {look(source)}")
    (folder / "back/program").unlink()
    done = run("restore", *targets, "-o", folder / "back", code=3)
    expect(" exists; use --overwrite" in done.errors, done.errors)
    expect(not (folder / "back/program").exists(), "refused, but a file was restored")
    (folder / "back/a/data").write_bytes(b"changed")
    run("restore", *targets, "-o", folder / "back", "--overwrite")
    expect(look(folder / "back") == look(source), "not equal after --overwrite")
    holes = (folder / "back/holes").stat()
    expect(holes.st_blocks * 512 < holes.st_size / 4, f"holes were filled: {holes}")

    shutil.rmtree(targets[1])
    done = run("verify", *targets, code=1)
    expect("shard 1: missing" in done.text and "shard 4: missing" in done.text, done.text)
    expect(f"{targets[1]}" in done.errors and "continuing without it" in done.errors, done.errors)
    report = answer("verify", *targets, code=1)
    expect(report["state"] == "damaged", f"{report}")
    bad = [shard["index"] for shard in report["shards"] if shard["problem"]]
    expect(bad == [1, 4], f"{report}")
    done = run("restore", *targets, "-o", folder / "back2")
    expect("2 of 6 shards are missing" in done.errors, done.errors)
    expect(look(folder / "back2") == look(source),
           "not equal when restored from two of three targets")

    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for number, path in enumerate(shards_in(targets[0])):
        path.rename(elsewhere / f"file {number}")
    run("verify", targets[2], code=2)
    report = answer("verify", targets[2], "--search", elsewhere, code=1)
    expect(sorted(shard["path"] for shard in report["shards"] if shard["path"]) ==
           sorted(map(str, shards_in(elsewhere, targets[2]))), f"{report}")
    made = answer("repair", targets[2], elsewhere, "-o", folder / "new")
    expect(sorted(made["files_created"]) == sorted(map(str, shards_in(folder / "new"))), f"{made}")
    expect(len(made["files_created"]) == 2 and not made["files_changed"], f"{made}")
    run("verify", targets[2], elsewhere, folder / "new", "--deep")
    check_info(source, [targets[2], elsewhere, folder / "new"])


def check_info(source, places):
    info = answer("info", *places, "--files")
    expect(len(info["sets"]) == 1 and info["unknown"] == [], f"{info}")
    one = info["sets"][0]
    expect(one["shards_present"] == 6 and one["missing"] == [] and "MDS" in one["proof"], f"{one}")
    listed = {entry["path"] or ".": entry for entry in one["files"]}
    expect(set(listed) == set(look(source)), f"{sorted(listed)}")
    for path, entry in listed.items():
        status = (source / path).lstat()
        expect(entry["mode"] == status.st_mode & 0o7777, f"{path}: {entry}")
        expect(entry["seconds"] * 10**9 + entry["nanoseconds"] == status.st_mtime_ns, f"{entry}")
    text = run("info", *places, "--files").text
    for words in ("4+2 hybrid", "6 of 6 present", one["set"]["uuid"], one["summary"],
                  "a/in -> b/empty", "0751         5000 2001-09-09 01:46:40  program"):
        expect(words in text, f"{words!r} is not in {text}")
    expect("odd\nname" not in text, f"a name with a newline is not escaped: {text}")
    expect("--files" in run("info", "--help").text, "help")
    done = run("info", *places[:2], code=1)
    expect("missing: 1, 4" in done.text, done.text)
    done = run("info", places[0], code=2)
    expect("2 of 6 present" in done.text and "cannot be read" in done.text, done.text)
    expect(answer("info", shards_in(places[0])[0], code=2)["sets"][0]["shards_present"] == 2, "")
    twice = answer("info", *places, f"{places[0]}/.", shards_in(places[0])[0], "--search",
                   places[1])
    expect(len(twice["sets"][0]["shards"]) == 6,
           f"directories given twice are counted twice: {twice}")


def check_damage(folder):
    """Damage is reported, repaired in place, or refused; text and JSON agree."""
    source, target = folder / "movie", folder / "one"
    source.write_bytes(data(200000, 3))
    done = run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target)
    expect("the only target directory holds all 5 shards" in done.errors, done.errors)
    good = digests(target)
    paths = shards_in(target)
    for number, path in enumerate(paths):  # each in a different stripe
        damage(path, 4096 * (number + 2) + 5)
    os.truncate(paths[4], 40000)
    damage(paths[3], 0)
    report = answer("verify", target, code=1)
    text = run("verify", target, code=1).text
    for shard in report["shards"]:
        expect(shard["problem"] and shard["bad_blocks"] >= 1, f"{shard}")
        line = f"shard {shard['index']}: {shard['path']}: {shard['problem']}\n"
        expect(line in text, f"{line!r} is not in {text}")
    expect(not report["shards"][3]["headers_good"] and report["shards"][2]["headers_good"], "")
    expect(not report["shards"][4]["size_good"] and report["shards"][3]["size_good"], "")
    words = f"Damaged in {report['bad_stripes']} of {report['set']['stripes']} stripes"
    expect(words in text, text)
    run("restore", target, "-o", folder / "movie.back")
    expect((folder / "movie.back").read_bytes() == source.read_bytes(), "restored other bytes")
    text = run("repair", paths[0]).text  # one of its files selects a set
    expect(all(f"repaired {path}\n" in text for path in paths), text)
    expect(digests(target) == good, "repaired to other bytes")
    expect("nothing to repair" in run("repair", target).text, "a good set was repaired")
    paths[1].write_bytes(b"no header" * 9000)
    done = run("repair", target)
    expect(f"{paths[1]} has no good header" in done.errors, done.errors)
    expect(f"created {paths[1]} (replaced an unusable file)\n" in done.text, done.text)
    expect(digests(target) == good, "rebuilt with other bytes")
    check_lost(folder, target, paths)


def check_lost(folder, target, paths):
    for path in paths[:3]:
        damage(path, 4096 * 7 + 1)
    damage(paths[4], 4096 * 3 + 1)
    bad = digests(target)
    for arguments in (["verify", target], ["repair", target]):
        report = answer(*arguments, code=2)
        expect(report["state"] == "lost" and report["lost_stripes"] == [6], f"{report}")
        expect(report["lost_stripe_count"] == 1 and report["bad_stripes"] == 2, f"{report}")
        done = run(*arguments, code=2)
        expect("Not repairable: 1 of" in done.text and "needed: 6.\n" in done.text, done.text)
        expect("Find the missing shards, or better copies" in done.text, done.text)
    expect("nothing was changed" in done.errors and re.search(r"\b6\b", done.errors), done.errors)
    done = run("restore", target, "-o", folder / "movie.lost", code=2)
    expect(re.search(r"stripes? 6\b", done.errors) and "calpe verify" in done.errors, done.errors)
    expect(not (folder / "movie.lost").exists(), "a partial file is left")
    expect(digests(target) == bad, "something was changed")
    for path in paths[:3]:
        path.unlink()
    expect("2 shards found, 3 needed; find 1 more" in run("repair", target, code=2).text, "advice")
    for path in paths[3:]:
        path.write_bytes(b"no header" * 2000)
    done = run("verify", target, code=2)
    expect(str(paths[3]) in done.errors and "no shard" in done.errors, done.errors)


def check_lost_file(folder):
    """Only the files in lost stripes of a directory are not restored."""
    source, target, back = folder / "album", folder / "album.shards", folder / "album.back"
    source.mkdir()
    for number in range(4):
        (source / f"song{number}").write_bytes(data(30000, number))
    run("protect", source, "--data", 3, "--parity", 2, "--block-bytes", "4K", "-o", target)
    for path in shards_in(target)[:3]:
        damage(path, 4096 * 4 + 1)  # stripe 3: bytes from 36864 to 49152, all of song1
    done = run("restore", target, "-o", back, code=2)
    expect("song1 is lost: " in done.errors and "stripe 3" in done.errors, done.errors)
    expect(" except 1 file;" in done.text, done.text)
    expect(sorted(path.name for path in back.iterdir()) == ["song0", "song2", "song3"], "others")
    for path in back.iterdir():
        expect(path.read_bytes() == (source / path.name).read_bytes(), f"{path}: other bytes")
    report = answer("restore", target, "-o", back, "--overwrite", code=2)
    expect([file["path"] for file in report["lost"]] == ["song1"], f"{report}")


def check_pipes(folder):
    """cat | protect, restore | cat: a stream longer than one read, and an empty one."""
    for name, content in (("long", data(3000000, 4)), ("empty", b"")):
        target = folder / f"pipe-{name}"
        source = folder / f"{name}.bin"
        source.write_bytes(content)
        done = subprocess.run(f"cat {source} | {calpe} protect - --data 5 --parity 3 -o {target}",
                              shell=True, capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and "stdin (5+3" in done.stdout, f"{done}")
        expect(shards_in(target)[0].name == "stdin.s000.calpe", f"{shards_in(target)}")
        for path in shards_in(target)[1:4]:
            path.unlink()
        expect(run("restore", target, "-o", "-").stdout == content, f"{name}: other bytes")
        run("restore", target, "-o", folder)
        expect((folder / "stdin").read_bytes() == content, f"{name}: other bytes in a file")
        done = run("restore", target, "-o", folder / "stdin", code=3)
        expect("stdin already exists" in done.errors and "--overwrite" in done.errors, done.errors)
        run("restore", target, "-o", folder / "stdin", "--overwrite", "--owners")
        (folder / "stdin").unlink()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([calpe, "restore", folder / "pipe-long", "-o", "-"], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    expect(done.returncode == 4 and b"No space" in done.stderr, f"{done}")
    for arguments in (["--version"], ["--help"], ["verify", "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([calpe, *arguments], stdout=full, stderr=full, check=False)
        expect(done.returncode == 4, f"{done}")


def check_targets(folder):
    """Notes on targets, several sets in one directory, --overwrite."""
    source = folder / "word"
    source.write_bytes(b"word")
    for count, code, words in (
            (2, (10, 4), "each of 2 target directories holds 7 of 14 shards; losing one loses more "
             "than 4 shards, and so the data; with 4 directories"),
            (3, (10, 4), "each of 3 target directories holds up to 5 of 14 shards; losing one may "
             "lose"),
            (4, (10, 4), ""), (2, (2, 2), ""), (1, (1, 1), "holds all 2 shards"),
            (3, (3, 2), "")):
        outputs = [word for number in range(count)
                   for word in ("-o", folder / f"n{count}-{code[0]}-{number}")]
        notes = answer("protect", source, "--data", code[0], "--parity", code[1], *outputs)["notes"]
        expect(len(notes) == bool(words) and words in "".join(notes), f"{count}, {code}: {notes}")

    place = folder / "place"
    run("protect", source, "-o", place, "--data", 4, "--parity", 2, "--jobs", 1)
    before = digests(place)
    done = run("protect", source, "-o", place, "--data", 2, "--parity", 1, code=3)
    expect("word.s000.calpe exists" in done.errors and "--overwrite" in done.errors, done.errors)
    expect(digests(place) == before, "refused, but something changed")
    older = {path: path.read_bytes() for path in shards_in(place)}
    done = run("protect", source, "-o", place, "--data", 2, "--parity", 1, "--overwrite")
    expect("older set" not in done.errors, done.errors)
    expect(len(shards_in(place)) == 3, f"replaced shards are left: {shards_in(place)}")
    for path in sorted(older)[3:]:  # two sets in one directory
        path.write_bytes(older[path])
    info = answer("info", place, code=2)
    expect(sorted(one["shards_present"] for one in info["sets"]) == [3, 3], f"{info}")
    done = run("verify", place, code=3)
    uuids = {one["set"]["data_shards"]: one["set"]["uuid"] for one in info["sets"]}
    expect(all(uuid in done.errors for uuid in uuids.values()), done.errors)
    expect("--uuid" in done.errors, done.errors)
    run("verify", place, "--uuid", uuids[2])
    run("verify", place, "--uuid", uuids[2][:13].upper())
    run("verify", place / "word.s001.calpe")
    run("verify", place, "--uuid", uuids[4], code=2)
    expect("begins with" in run("verify", place, "--uuid", "0-0", code=3).errors, "uuid")


def check_originals(folder):
    """--keep-original: parity next to the data, with damaged, lost and changed files."""
    tree = folder / "photos"
    tree.mkdir()
    for number in range(6):
        (tree / f"{number}.raw").write_bytes(data(40000, number))
    before = look(tree)
    made = answer("protect", tree, "--keep-original", "--data", 4, "--parity", 2)
    expect(made["set"]["kind"] == "originals" and len(made["shards"]) == 2, f"{made}")
    expect(sorted(path.name for path in folder.iterdir()) ==
           ["photos", "photos.s004.calpe", "photos.s005.calpe"], "parity next to the data")
    run("verify", folder)
    run("verify", folder, "--original", tree)
    expect("parity files" in run("info", folder).text, "info shows the kind")
    (tree / "2.raw").unlink()
    about = (tree / "4.raw").stat()
    damage(tree / "4.raw", 1000)
    os.utime(tree / "4.raw", ns=(about.st_atime_ns, about.st_mtime_ns))
    states = {pathlib.Path(state["path"]).name: state["state"]
              for state in answer("verify", folder, code=1)["originals"]}
    expect(states == {"2.raw": "missing", "4.raw": "damaged"}, f"{states}")
    run("restore", folder, "-o", folder / "out")
    expect(look(folder / "out") == before, "restored from the remaining files")
    run("repair", folder)
    del before["."]  # its time changed with the loss
    expect({path: seen for path, seen in look(tree).items() if path != "."} == before, "repaired")
    (tree / "0.raw").write_bytes(b"edited")
    expect("--overwrite" in run("repair", folder, code=1).errors, "a changed file must be kept")
    expect((tree / "0.raw").read_bytes() == b"edited", "a changed file must be kept")
    run("update", tree, folder)
    run("verify", folder)
    (tree / "0.raw").unlink()
    run("repair", folder)
    expect((tree / "0.raw").read_bytes() == b"edited", "repair did not use the updated parity")
    for number in range(5):
        (tree / f"{number}.raw").unlink()
    expect("stripe" in run("repair", folder, code=2).errors, "too much is lost")
    expect(len(list(tree.iterdir())) == 1, "nothing was written")
    expect("original" in run("protect", "-", "--keep-original", code=3, input=b"").errors, "stream")


def check_refusals(folder):
    """Each error names what is wrong and what to do next; wrong usage exits with 3."""
    source, empty, target = folder / "thing", folder / "nothing here", folder / "shards"
    source.mkdir()
    (source / "file").write_bytes(b"file")
    empty.mkdir()
    (folder / "plain").write_bytes(b"plain")
    run("protect", source, "-o", target, "--data", 2, "--parity", 1)
    for arguments, code, words in (
            (["protect"], 3, ["SOURCE"]), (["protect", source, "--data", "0"], 3, ["--data"]),
            (["protect", source, "--bogus"], 3, ["--bogus"]),
            (["protect", source, "-o", target, "--name", "n", "--data", 200, "--parity", 100], 3,
             ["256"]),
            (["protect", source, "-o", target, "--profile", "bogus"], 3, ["bogus", "hybrid"]),
            (["protect", source, "-o", target, "--profile", "cauchy-good"], 3, ["packets"]),
            (["protect", source, "-o", target, "--block-bytes", "100"], 3, ["100", "64"]),
            (["protect", source, "-o", target, "--name", "a/b"], 3, ["a/b", "--name"]),
            (["protect", source, "-o", source / "in"], 3, [source / "in", "-o"]),
            (["protect", source, "-o", empty, "-o", f"{empty}/."], 3, ["twice"]),
            (["protect", folder / "none", "-o", empty], 4, [folder / "none", "No such file"]),
            (["protect", source, "-o", folder / "plain/x"], 4, [folder / "plain"]),
            (["verify", empty], 3, [empty, "name the directories"]),
            (["verify", folder / "none"], 4, [folder / "none", "No such file"]),
            (["verify", folder / "plain"], 3, ["no shards"]),
            (["verify", target, "--uuid", "xyz"], 3, ["xyz", "calpe info"]),
            (["restore", target], 3, ["--output"]),
            (["restore", target, "-o", "-"], 3, ["standard output", "directory"]),
            (["restore", target, "-o", "-", "--json"], 3, ["--json"]),
            (["restore", target, "-o", folder / "plain"], 4, [folder / "plain"]),
            (["repair", empty], 3, [empty]), (["info", empty], 3, [empty]),
            (["codes", "--bogus"], 3, ["--bogus"]), (["bogus"], 3, ["--help"])):
        done = run(*arguments, code=code)
        for word in words:
            expect(str(word) in done.errors, f"{arguments}: no {word!r} in {done.errors!r}")
        expect(done.text == "", f"{arguments}: output with an error: {done.text}")
    expect(shards_in(empty) == [], f"refused, but created {shards_in(empty)}")
    error = answer("verify", empty, code=3)
    expect(error["exit_code"] == 3 and str(empty) in error["error"], f"{error}")
    with tempfile.TemporaryDirectory(dir=folder) as here:
        run("protect", source, cwd=here, env={})
        expect(len(shards_in(pathlib.Path(here))) == 14, "10+4 in the current directory")
        run("verify", cwd=here, env={})


def without_terminal(arguments, feed):
    with subprocess.Popen([calpe, *map(str, arguments)], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        feed(process)
        return process.stderr.read().decode()


def on_terminal(arguments, feed):
    """Returns the standard error of a command on a terminal, while `feed` uses the pipes."""
    leader, follower = pty.openpty()
    with subprocess.Popen([calpe, *map(str, arguments)], stdin=subprocess.PIPE, stderr=follower,
                          stdout=subprocess.PIPE) as process:
        os.close(follower)
        feed(process)
        process.wait(60)
    expect(process.returncode == 0, f"{arguments}: exit {process.returncode}")
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    return shown.decode()


def check_bar(folder):
    target, content = folder / "bar", data(4 << 20, 5)

    def write_slowly(process):
        for number in range(4):
            process.stdin.write(content[number << 20:(number + 1) << 20])
            process.stdin.flush()
            time.sleep(0.15)
        process.stdin.close()

    def read_slowly(process):
        process.stdin.close()
        first = process.stdout.read(1 << 20)
        time.sleep(0.5)
        expect(first + process.stdout.read() == content, "other bytes through a slow pipe")

    shown = on_terminal(["protect", "-", "-o", target], write_slowly)
    expect(re.search(r"protecting stdin  [\d.]+ MB  [\d.]+ MB/s", shown), f"{shown!r}")
    shown = without_terminal(["protect", "-", "-o", target, "--overwrite"], write_slowly)
    expect("note: the only target" in shown and "\r" not in shown and "MB/s" not in shown,
           f"{shown!r}")
    shown = on_terminal(["restore", target, "-o", "-"], read_slowly)
    bar = r"restoring stdin  \[#+\.*\]  *(\d+) %  [\d.]+ MB/s  \d:\d\d left"
    expect(re.search(bar, shown), f"{shown!r}")
    expect(shown.rstrip().endswith("\x1b[K"), f"the bar is not removed: {shown!r}")


def check_update(folder):
    tree, targets = folder / "tree", [folder / "one", folder / "two"]
    make_tree(tree)
    outputs = [part for target in targets for part in ("-o", target)]
    run("protect", tree, "--data", 3, "--parity", 2, *outputs)
    before = digests(*targets)
    expect("nothing changed" in run("update", tree, *targets).text, "nothing changed")
    (tree / "program").write_bytes(b"shorter")
    (tree / "new").write_bytes(b"x")
    (tree / "a/data").unlink()
    shown = run("update", tree, *targets, "--dry-run").text
    for line in ("add      new", "change   program", "remove   a/data", "metadata a"):
        expect(line in shown, f"{line}: {shown}")
    expect(digests(*targets) == before, "a dry run wrote something")
    said = answer("update", tree, *targets)
    expect((said["added"], said["changed"], said["removed"]) == (["new"], ["program"], ["a/data"]),
           f"{said}")
    expect(said["stripes_by_delta"] + said["stripes_by_encode"] > 0, f"{said}")
    expect(said["set"]["generation"] > 1 and "deleted files" in said["notes"][0], f"{said}")
    run("restore", *targets, "-o", folder / "back")
    expect((folder / "back/program").read_bytes() == b"shorter", "restored after an update")
    expect(not (folder / "back/a/data").exists(), "a deleted file was restored")
    # Refusals, with the reason.
    (tree / "program").write_bytes(b"once more")
    wrong = run("update", tree / "empty folder", *targets, code=3).errors
    expect("the right source?" in wrong, wrong)
    wrong = run("update", tree / "new", *targets, code=3).errors
    expect("is a file, but the set protects a directory" in wrong, wrong)
    expect("standard input" in run("update", "-", *targets, code=3).errors, "a stream")
    shards_in(*targets)[0].rename(tree / "shard")
    expect("move it elsewhere" in run("update", tree, *targets, tree, code=3).errors, "in itself")
    (tree / "shard").unlink()
    before = digests(*targets)
    missing = run("update", tree, *targets, code=1).errors
    expect("shard 0 is missing; run calpe repair first" in missing, missing)
    expect(answer("update", tree, *targets, code=1)["exit_code"] == 1, "exit code in JSON")
    expect(digests(*targets) == before, "a damaged set was changed")
    run("repair", *targets)
    run("update", tree, *targets)
    run("verify", "--deep", *targets)
    # With --keep-original.
    parity = folder / "parity"
    run("protect", tree, "--keep-original", "--data", 3, "--parity", 2, "-o", parity)
    (tree / "program").write_bytes(b"changed again")
    expect("encoded again in 2 parity files" in run("update", tree, parity).text, "originals")
    expect("nothing changed" in run("update", tree, parity).text, "originals, again")
    run("verify", parity, "--original", tree)
    # A stream has no source to compare with.
    run("protect", "-", "-o", folder / "pipe", input=b"stream")
    wrong = run("update", tree, folder / "pipe", code=3).errors
    expect("standard input" in wrong, wrong)


def check_add_parity(folder):
    source, places = folder / "source", [folder / "a", folder / "b"]
    source.write_bytes(data(100000, 8))
    run("protect", source, "--data", 4, "--parity", 2, "-o", places[0], "-o", places[1])
    wrong = run("add-parity", *places, "--parity", 2, code=3)
    expect("parity is 2; expected 3 to 252" in wrong.errors, wrong.errors)
    said = answer("add-parity", *places, "--parity", 3)
    expect(len(said["files_created"]) == 1 and said["set"]["parity_shards"] == 3, f"{said}")
    done = run("add-parity", *places, "--parity", 6, "-o", folder / "new")
    expect("Any 6 shards may be lost" in done.text and done.text.count("created ") == 3, done.text)
    run("verify", *places, folder / "new", "--deep")
    for path in shards_in(*places)[:6]:
        path.unlink()
    run("restore", *places, folder / "new", "-o", folder / "back")
    expect((folder / "back").read_bytes() == source.read_bytes(), "other bytes")
    done = run("add-parity", *places, folder / "new", "--parity", 8, code=1)
    expect("is missing; run calpe repair first" in done.errors, done.errors)
    # A code whose parity would change: the printed commands work.
    run("protect", source, "--name", "of-lch", "--data", 3, "--parity", 8, "-o", folder / "lch")
    done = run("add-parity", folder / "lch", "--parity", 9, code=3)
    line = re.search("must be rewritten: (calpe restore .*)", done.errors)
    expect("profile lch" in done.errors and line, done.errors)
    subprocess.run(line[1].replace("calpe ", f"{calpe} "), shell=True, check=True, cwd=folder,
                   capture_output=True)
    expect(answer("info", folder / "lch")["sets"][0]["set"]["parity_shards"] == 9, "not rewritten")


def check_groups(folder):
    source = folder / "source"
    source.write_bytes(data(50000, 9))
    lrc = ["protect", source, "--profile", "lrc", "--data", 6, "--parity", 4]
    expect("needs --groups" in run(*lrc, code=3).errors, "lrc without groups")
    wrong = run("protect", source, "--groups", 2, "-o", folder / "x", code=3)
    expect("--groups is for --profile lrc" in wrong.errors, wrong.errors)
    targets = [part for name in "abc" for part in ("-o", folder / name)]
    done = run(*lrc, "--groups", 2, *targets)
    expect("Any 3 shards may be lost or damaged, and many sets of up to 4." in done.text, done.text)


def check_man_pages():
    for verb in VERBS:
        page = (root / f"man/calpe-{verb}.1").read_text().replace("\\-", "-")
        text = run(verb, "--help").text
        options = set(re.findall(r"--[a-z-]+", text)) - {"--help"}
        expect(len(options) > 3 and "2 data is lost" in " ".join(text.split()), text)
        for option in options:
            expect(option in page, f"{option} is not in calpe-{verb}.1")
        for option in set(re.findall(r"--[a-z][a-z-]+", page.split(".SH EXAMPLES")[0])):
            expect(option in options, f"{option} of calpe-{verb}.1 is not in the help")
        index = (root / "man/calpe.1").read_text().replace("\\-", "-")
        expect(f"calpe-{verb}" in index, f"calpe.1: no {verb}")


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_tree, check_damage, check_lost_file, check_pipes, check_targets,
                      check_refusals, check_bar, check_update, check_add_parity, check_groups,
                      check_originals):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(folder)
    check_man_pages()
    print("files_test: good")


if __name__ == "__main__":
    main()
