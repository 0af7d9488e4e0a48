#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Directories that programs write to, and full disks: live.py CALPE"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, IO, USAGE,  # noqa: E402, pylint: disable=wrong-import-position
                     expect)

OTHER_USER = 65534


def make_home(folder, chance):
    home = folder / "home"
    for name in ("docs/a.txt", "docs/b.txt", "docs/old.tmp", "cache/x", "music/song"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(chance.randbytes(20000))
    return home


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def restored(calpe, folder, target):
    back = folder / "back"
    shutil.rmtree(back, ignore_errors=True)
    calpe.must(GOOD, "restore", target, "-o", back)
    return files_in(back)


def excluded(calpe, folder, chance):
    """--exclude leaves out files and directories, in protect and update."""
    home, target = make_home(folder, chance), folder / "shards"
    code = ["--data", 3, "--parity", 2, "-o", target]
    left_out = ["--exclude", "*.tmp", "--exclude", "cache"]
    done = json.loads(calpe.must(GOOD, "protect", home, *code, *left_out, "--json").text)
    expect(done["excluded"] == 2 and not done["unreadable"], f"{done}")
    wanted = {name: what for name, what in files_in(home).items()
              if name not in ("docs/old.tmp", "cache/x")}
    expect(restored(calpe, folder, target) == wanted, "other files were protected")
    done = calpe.must(GOOD, "update", home, target, *left_out)
    expect("nothing changed" in done.text, done.text)
    done = calpe.must(GOOD, "update", home, target, "--dry-run")
    expect("add      cache/x\n" in done.text, done.text)
    done = calpe.must(GOOD, "protect", home, "--name", "odd", *code, "--exclude", "nothing-here")
    expect("note: --exclude nothing-here matches nothing\n" in done.errors, done.errors)
    for wrong in ((home, "-", "--name", "x"), ("-", "--exclude", "x"),
                  (home, "--keep-original", "--exclude", "x"), (home, home / "docs")):
        calpe.must(USAGE, "protect", *wrong)


def several(calpe, folder, chance):
    """Several sources become one set, which can be restored in part."""
    home, target = make_home(folder, chance), folder / "shards"
    calpe.must(GOOD, "protect", home / "docs", home / "music/song", "--name", "both", "--data", 3,
               "--parity", 2, "-o", target)
    wanted = {f"docs/{name}": what for name, what in files_in(home / "docs").items()}
    wanted["song"] = (home / "music/song").read_bytes()
    expect(restored(calpe, folder, target) == wanted, "other files were protected")
    calpe.must(GOOD, "restore", target, "-o", folder / "part", "--only", "song")
    calpe.must(USAGE, "protect", home / "docs", home / "docs/", "--name", "twice", "-o", target)
    calpe.must(IO, "protect", home / "docs", home / "none", "--name", "none", "-o", target)
    # An update from one source would remove the other one.
    calpe.must(USAGE, "update", home / "docs", target)


def changing(calpe, folder, chance):
    """A file that a program keeps writing to is left out and listed; all others are protected."""
    home, target = make_home(folder, chance), folder / "shards"
    (home / "docs/log").write_bytes(bytes(20_000_000))  # takes longer to read than to change
    ends = threading.Event()

    def write_log():
        with open(home / "docs/log", "r+b", buffering=0) as log:
            while not ends.is_set():
                log.seek(0)
                log.write(b"x")

    writer = threading.Thread(target=write_log)
    writer.start()
    try:
        done = calpe.run("protect", home, "--data", 3, "--parity", 2, "-o", target)
    finally:
        ends.set()
        writer.join()
    expect(done.returncode == DAMAGED, f"exit {done.returncode}: {done.text}{done.errors}")
    expect("calpe protect: docs/log is not protected: " in done.errors and
           "changed while it was read" in done.errors, done.errors)
    wanted = files_in(home)
    del wanted["docs/log"]
    expect(restored(calpe, folder, target) == wanted, "other files were not protected")
    calpe.must(GOOD, "verify", target, "--deep")


def unreadable(calpe, folder, chance):
    """Files and directories without permission are listed."""
    home, target = make_home(folder, chance), folder / "shards"
    target.mkdir()
    os.chmod(home / "docs/a.txt", 0)
    os.chmod(home / "cache", 0)
    arguments = calpe.arguments("protect", home, "--data", 3, "--parity", 2, "-o", target, "--json")
    user = {}
    if os.geteuid() == 0:
        user = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": []}
        os.chown(target, OTHER_USER, OTHER_USER)
        for path in [folder, *folder.parents[:-1]]:
            if path.stat().st_mode & 0o001 == 0:
                os.chmod(path, 0o755)
    done = subprocess.run(arguments, capture_output=True, check=False, **user)
    os.chmod(home / "cache", 0o755)
    expect(done.returncode == DAMAGED, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    report = json.loads(done.stdout)
    expect(sorted(file["path"] for file in report["unreadable"]) == ["cache", "docs/a.txt"],
           f"{report['unreadable']}")
    expect(all("Permission denied" in file["why"] for file in report["unreadable"]),
           f"{report['unreadable']}")
    expect(set(restored(calpe, folder, target)) == {"docs/b.txt", "docs/old.tmp", "music/song"},
           "other files were not protected")


def metadata(calpe, folder, chance):
    """Metadata that is not kept is named."""
    home, target = make_home(folder, chance), folder / "shards"
    os.link(home / "docs/a.txt", home / "docs/again.txt")
    os.chmod(home / "docs/b.txt", 0o4755)
    done = calpe.must(GOOD, "protect", home, "--data", 3, "--parity", 2, "-o", target)
    expect("note: hard links are stored as separate files: docs/a.txt, docs/again.txt\n"
           in done.errors, done.errors)
    try:
        os.setxattr(home / "docs/b.txt", "user.author", b"me")
        done = calpe.must(GOOD, "protect", home, "--name", "x", "--data", 3, "--parity", 2, "-o",
                          target)
        expect("note: extended attributes and ACLs are not stored: docs/b.txt\n" in done.errors,
               done.errors)
        for path in target.glob("x.*"):
            path.unlink()
    except OSError:
        print("live: this file system has no extended attributes")
    done = calpe.must(GOOD, "restore", target, "-o", folder / "back")
    expect("note: the set-user-ID and set-group-ID bits of 1 entry were not restored; "
           "--owners restores them\n" in done.errors, done.errors)
    expect((folder / "back/docs/b.txt").stat().st_mode & 0o7777 == 0o755, "set-user-ID was kept")


def small_disk(calpe, folder, chance):
    """Too little space is found before anything is written; --no-space-check tries anyway."""
    disk, source = folder / "disk", folder / "source"
    disk.mkdir()
    source.write_bytes(chance.randbytes(3_000_000))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2M", "tmpfs", disk],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        print("live: cannot mount a small file system")
        return
    try:
        protect = ["protect", source, "--data", 2, "--parity", 1, "-o", disk]
        done = calpe.must(IO, *protect)
        expect(f"{disk}: 2.1 MB are free on this file system, but the shards need 4." in done.errors
               and not list(disk.iterdir()), done.errors)
        done = calpe.must(IO, *protect, "--no-space-check")
        expect("No space left on device" in done.errors and not list(disk.iterdir()), done.errors)
        calpe.must(GOOD, *protect, "-o", folder / "more", "-o", folder / "most")
    finally:
        subprocess.run(["umount", disk], check=True)


def empty_input(calpe, folder, _):
    """An empty pipe is often the end of a command that failed."""
    done = subprocess.run(calpe.arguments("protect", "-", "--data", 1, "--parity", 1, "-o", folder),
                          input=b"", capture_output=True, check=False)
    expect(done.returncode == GOOD and
           b"note: standard input was empty, so the set contains no data\n" in done.stderr,
           f"{done.stderr}")


def unmounted(calpe, folder, chance):
    """A note names a mount point where nothing is mounted."""
    source, disk, fstab = folder / "source", folder / "disk", folder / "fstab"
    source.write_bytes(chance.randbytes(1000))
    disk.mkdir()
    fstab.write_text(f"LABEL=x {disk} ext4 defaults 0 0\nnone none swap sw 0 0\n")
    script = 'mount --bind "$1" /etc/fstab && shift && exec "$@"'
    if subprocess.run(["unshare", "-m", "sh", "-c", script, "-", fstab, "true"],
                      capture_output=True, check=False).returncode != 0:
        print("live: cannot mount another fstab")
        return
    for target, is_noted in ((disk, True), (disk / "deep/er", True), (folder / "other", False)):
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "-", fstab,
                               *calpe.arguments("protect", source, "--data", 1, "--parity", 1, "-o",
                                                target)], capture_output=True, check=False)
        is_there = f"note: {disk} is a mount point in /etc/fstab".encode() in done.stderr
        expect(done.returncode == GOOD and is_there == is_noted, f"{target}: {done.stderr}")


def main():
    calpe = command.program_from_arguments()

    def work(folder, chance):
        cases = (excluded, several, changing, unreadable, metadata, small_disk, empty_input,
                 unmounted)
        for case in cases:
            place = folder / case.__name__
            place.mkdir()
            case(calpe, place, chance)
        return f"{len(cases)} cases"

    return command.run_with_seed("live", work, fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
