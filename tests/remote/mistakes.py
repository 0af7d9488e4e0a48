#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calpe remote as users do: wrong places, full and read-only disks, killed commands, old
places, unusual files.

Usage: mistakes.py CALPE
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
# pylint: disable=wrong-import-position
from command import DAMAGED, GOOD, IO, LOST, USAGE, Calpe, expect, run_with_seed  # noqa: E402

SMALL_FILES = 20_000


def snapshot(folder):
    """Type, mode, time and content of everything in a directory, by path in bytes."""
    found = {}
    for place, _, names in os.walk(os.fsencode(folder)):
        for path in [place, *(os.path.join(place, name) for name in names)]:
            state = os.lstat(path)
            is_link, is_file = os.path.islink(path), os.path.isfile(path)
            content = os.readlink(path) if is_link else None
            if is_file and not is_link:
                content = pathlib.Path(os.fsdecode(path)).read_bytes()
            time = None if is_link else state.st_mtime_ns
            found[os.path.relpath(path, os.fsencode(folder))] = (state.st_mode, time, content)
    return found


def contents(place):
    return {path: content for path, (_, _, content) in snapshot(place).items()}


class Test:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder, self.chance = calpe, folder, chance
        self.source = folder / "photos"

    def remote(self, code, verb, *arguments):
        return self.calpe.must(code, "remote", verb, *arguments)

    def make_places(self, count, start=0):
        places = [self.folder / f"place{number}" for number in range(start, start + count)]
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        return places

    def make_source(self, count=6, size=30_000):
        shutil.rmtree(self.source, ignore_errors=True)
        (self.source / "2024").mkdir(parents=True)
        for number in range(count):
            (self.source / "2024" / f"{number}.raw").write_bytes(self.chance.randbytes(size))

    def protect(self, places, *arguments, code=GOOD):
        outputs = [word for place in places for word in ("-o", place)]
        return self.remote(code, "protect", self.source, "--data", 2, "--parity", 1, "--segment",
                           "64K", *outputs, *arguments)

    def restore(self, places, expected, *arguments):
        back = self.folder / "back"
        shutil.rmtree(back, ignore_errors=True)
        self.remote(GOOD, "restore", *places, "-o", back, *arguments)
        found = snapshot(back)
        wrong = {path for path in {*found, *expected} if found.get(path) != expected.get(path)}
        expect(not wrong, f"restored something else from {places}: {sorted(wrong)[:5]}, " + str(
            [(state[path][:2] if path in state else None) for path in sorted(wrong)[:2]
             for state in (found, expected)]))

    def losses(self, code, verb, *arguments):
        report = json.loads(self.remote(code, verb, *arguments, "--json").text)
        return report.get("sets", [report])[0]["places_may_fail"]

    def check_places(self):
        """Another order, one place twice, too few places, a new one."""
        self.make_source()
        places = self.make_places(4)
        first = self.protect(places[:3])
        expect("Any 1 of the 3 places may be lost." in first.text, first.text)
        state = snapshot(self.source)
        mixed = [places[2], places[0], places[1]]
        self.restore(mixed, state)
        (self.source / "new").write_bytes(b"new")
        self.remote(GOOD, "update", self.source, *mixed)
        state = snapshot(self.source)
        expect(self.losses(GOOD, "verify", *mixed) == 1, "another order weakened the set")
        link = self.folder / "link"
        link.symlink_to(places[0])
        for verb in (("verify",), ("repair",), ("forget", "--keep", 1), ("update", self.source),
                     ("info",)):
            done = self.remote(USAGE, *verb, *places[:3], link)
            expect("the same place as" in done.errors, done.errors)
        link.unlink()
        shutil.rmtree(places[1])
        left = [places[0], places[2]]
        before = [contents(place) for place in left]
        expect(self.losses(DAMAGED, "verify", *left) == 0, "a lost place was not counted")
        done = self.remote(USAGE, "repair", *left)
        expect("--allow-weaker" in done.errors, done.errors)
        expect(before == [contents(place) for place in left], "a refused repair wrote")
        expect(self.losses(GOOD, "repair", *left, "--allow-weaker") == 0, "wrong losses")
        done = self.remote(DAMAGED, "verify", *left)
        expect("Losing one place may lose data. The set is made to lose any 1. Give calpe remote "
               "repair a new place." in done.text, done.text)
        expect(self.losses(GOOD, "info", *left) == 0, "info counts other places")
        self.restore(left, state)
        done = self.remote(GOOD, "repair", *left, places[3])
        expect("of the objects were moved" in done.text, done.text)
        for lost in (places[0], places[2], places[3]):
            self.restore([place for place in (*left, places[3]) if place != lost], state)
        expect(self.losses(GOOD, "verify", *left, places[3]) == 1, "repair did not spread")
        return "places"

    def check_old_and_swapped_places(self):
        """A place of an older state, and the places of two sets with one name."""
        self.make_source()
        places = self.make_places(6)
        self.protect(places[:3])
        old = self.folder / "old"
        shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(places[0], old)
        (self.source / "2024/0.raw").write_bytes(b"newer")
        self.remote(GOOD, "update", self.source, *places[:3], "--keep", 1)
        state = snapshot(self.source)
        shutil.rmtree(places[0])
        shutil.move(old, places[0])
        self.restore(places[:3], state)
        done = self.remote(DAMAGED, "verify", *places[:3])
        expect("it was forgotten; calpe remote forget removes it" in done.text, done.text)
        self.remote(GOOD, "repair", *places[:3])
        self.remote(GOOD, "forget", *places[:3], "--keep", 1)
        self.remote(GOOD, "verify", *places[:3])
        self.restore(places[:2], state)
        other = self.make_places(3, 3)
        self.protect(other, code=GOOD)
        done = self.remote(USAGE, "verify", places[0], *other[1:], places[1])
        expect("there are 2 sets" in done.errors, done.errors)
        done = self.remote(USAGE, "update", self.source, places[0], places[1], other[2])
        expect("there are 2 sets" in done.errors, done.errors)
        self.restore(places[:3], state)
        return "old and swapped places"

    def run_on_disk(self, options, place, *arguments):
        """Runs calpe with a file system on the place that has a copy of its objects."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(place, copy)
        script = ('mount -t tmpfs -o size=1m none "$2" && cp -a "$3/." "$2" && '
                  'mount -o "remount,$1" "$2" && shift 3 && exec "$@"')
        return subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", options, place,
             copy, *self.calpe.arguments("remote", *arguments)],
            capture_output=True, text=True, check=False)

    def check_disks(self):
        """A full disk, and one that cannot be written."""
        self.make_source()
        places = self.make_places(3)
        self.protect(places)
        state = snapshot(self.source)
        works = self.run_on_disk("rw", places[2], "verify", *places)
        if works.returncode != GOOD:
            return "no mounts here"
        (self.source / "big").write_bytes(self.chance.randbytes(3_000_000))
        for options, text in (("rw", "No space left on device"),
                              ("ro", "Read-only file system")):
            done = self.run_on_disk(options, places[2], "update", self.source, *places)
            expect(done.returncode == IO and text in done.stderr and
                   str(places[2]) in done.stderr, f"{options}: {done.stderr}")
            expect(not list(places[0].glob("*.c*")), "a failed update left its mark")
            self.remote(GOOD, "verify", *places)
            self.restore(places, state)
        done = self.run_on_disk("ro", places[2], "verify", *places)
        expect(done.returncode == GOOD, f"verify of a read-only place: {done.stderr}")
        self.remote(GOOD, "update", self.source, *places)
        self.restore(places[1:], snapshot(self.source))
        return "disks"

    def check_changing_files(self):
        """Files that are removed, or change, while protect reads them."""
        self.make_source(40, 200_000)
        places = self.make_places(3)
        outputs = [word for place in places for word in ("-o", place)]
        command = self.calpe.arguments("remote", "protect", self.source, "--data", 2, "--parity",
                                       1, "--segment", "64K", *outputs)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            while not any(places[0].glob("calpe-*/*")) and child.poll() is None:
                pass
            (self.source / "2024/39.raw").unlink()
            errors = child.communicate()[1].decode()
        expect(child.returncode == IO and "39.raw" in errors or child.returncode == GOOD, errors)
        if child.returncode != GOOD:
            done = self.protect(places)
            expect("Resumed" in done.text, done.text)
            self.restore(places, snapshot(self.source))
        expect(not list(places[0].glob("*.begun")) and not list(places[0].glob("*.c*")),
               "marks are left")
        return "changing files"

    def check_kill(self):
        """A killed command, and one of another computer."""
        self.make_source(40, 200_000)
        places = self.make_places(3)
        self.protect(places, "--name", "p")
        for file in (self.source / "2024").iterdir():
            file.write_bytes(self.chance.randbytes(200_000))
        command = self.calpe.arguments("remote", "update", self.source, *places)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            while not list(places[2].glob("*.c*")) and child.poll() is None:
                pass
            child.send_signal(signal.SIGSTOP)
            marks = list(places[0].glob("*.c*"))
            expect(marks, "the update has no mark")
            number = marks[0].name.rsplit(".c", 1)[1]
            for verb in (("update", self.source), ("repair",), ("forget", "--keep", 1)):
                done = self.remote(IO, *verb, *places)
                expect("is being changed by calpe remote update on" in done.errors and
                       f"--take-over {number}" in done.errors, done.errors)
            done = self.remote(GOOD, "info", *places)
            expect(number in done.text and "calpe remote update on" in done.text, done.text)
            self.remote(GOOD, "verify", *places)
            child.kill()
        # The process is gone, so its mark is removed.
        self.remote(GOOD, "update", self.source, *places)
        self.restore(places, snapshot(self.source))
        mark = next(iter(places[0].glob("*.g*"))).name.rsplit(".", 1)[0] + ".c" + "1" * 16
        for place in places:
            (place / mark).write_text("calpe-c1\nverb repair\nhost nas\nprocess 7\nsystem x\n")
        done = self.remote(IO, "repair", *places)
        expect("calpe remote repair on nas (process 7, begun 1970" in done.errors, done.errors)
        self.remote(USAGE, "repair", *places, "--take-over", "1")
        self.remote(IO, "repair", *places, "--take-over", "2" * 16)
        self.remote(GOOD, "repair", *places, "--take-over", "1" * 16)
        expect(not list(places[0].glob("*.c*")), "marks are left")
        return "kill"

    def check_lost_segments(self):
        """Two places are lost, and the files are still there."""
        self.make_source()
        places = self.make_places(3)
        self.protect(places)
        state = snapshot(self.source)
        for place in places[:2]:
            for file in sorted(place.glob("calpe-*/*"))[:4]:
                file.unlink()
        done = self.remote(LOST, "verify", *places)
        expect("run calpe remote update with the files" in done.text, done.text)
        done = self.calpe.run("remote", "repair", *places)
        expect(done.returncode in (GOOD, LOST), done.errors)
        extra = ("--allow-removing", 100)
        done = self.remote(GOOD, "update", self.source, *places, *extra)
        expect("again." in done.text, done.text + done.errors)
        self.remote(GOOD, "verify", *places)
        self.restore(places[:2], state)
        self.restore(places[1:], state)
        return "lost segments"

    def check_unusual_files(self):
        """Names of any bytes, links, modes, an empty directory, and many small files."""
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir()
        places = self.make_places(3)
        self.protect(places, "--name", "empty")
        self.restore(places, snapshot(self.source))
        places = self.make_places(3)
        raw = os.fsencode(self.source)
        for name in (b"line\nbreak", b"not \xff utf-8", b"-o", b" ", b"\x1b[31m", b"a" * 250):
            pathlib.Path(os.fsdecode(os.path.join(raw, name))).write_bytes(name)
        (self.source / "sub/empty").mkdir(parents=True)
        (self.source / "zero").touch()
        (self.source / "link").symlink_to("nowhere")
        (self.source / "mode").write_bytes(b"x")
        (self.source / "mode").chmod(0o750)
        (self.source / "sub").chmod(0o711)
        (self.source / "sparse").write_bytes(b"")
        os.truncate(self.source / "sparse", 300_000)
        self.protect(places)
        state = snapshot(self.source)
        self.restore(places, state)
        self.restore(places[1:], state)
        done = self.remote(GOOD, "info", *places, "--files")
        expect("\x1b" not in done.text and "\\x1b" in done.text, "names are not escaped")
        places = self.make_places(3)
        for number in range(SMALL_FILES):
            if number % 500 == 0:
                (self.source / f"{number}").mkdir()
            (self.source / f"{number // 500 * 500}/{number}").write_bytes(b"%d" % number)
        self.protect(places)
        self.restore(places[:2], snapshot(self.source))
        return "unusual files"

    def run(self):
        checks = (self.check_places, self.check_old_and_swapped_places, self.check_disks,
                  self.check_changing_files, self.check_kill, self.check_lost_segments,
                  self.check_unusual_files)
        return ", ".join(check() for check in checks)


def main():
    calpe = Calpe(sys.argv[1])
    return run_with_seed("remote_mistakes",
                         lambda folder, chance: Test(calpe, folder, chance).run())


if __name__ == "__main__":
    sys.exit(main())
