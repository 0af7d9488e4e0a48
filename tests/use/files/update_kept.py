#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""update of kept originals costs as much as the edit: update_kept.py CALPE [FAULTS]

Two bytes change in one of many files. update reads the changed file, the stripes of the two bytes
and the tables, and writes their parity and the tables. Damage that it does not read stays
repairable, and damage that it reads is refused. With FAULTS, update is killed at every call that
touches the parity files: either the old or the new parity is complete. CALPE_NIGHTLY=1 uses 256 MiB
and kills at every call, otherwise at some.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "files"))
import command  # noqa: E402, pylint: disable=wrong-import-position
from command import (DAMAGED, GOOD, expect)  # noqa: E402, pylint: disable=wrong-import-position

DATA, PARITY = 4, 2
# Number of files, their bytes, block bytes.
LARGE = (100, (256 << 20) // 100, 65536) if command.is_nightly() else (20, 800_000, 65536)
SMALL = (20, 20_000, 1024)  # for kills
POINTS = 20
# Libraries, and headers that are read again each time the set is looked for.
PROGRAM_BYTES = 250_000


def flip(path, *places, keeps_time=False):
    about = path.stat()
    with open(path, "r+b") as file:
        for place in places:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1]))
    if keeps_time:
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


class UpdateKept:
    def __init__(self, calpe, folder, chance, shape):
        self.calpe, self.folder = calpe, folder
        self.files, self.file_bytes, self.block = shape
        folder.mkdir()
        self.source, self.parity = folder / "source", folder / "parity"
        self.source.mkdir()
        for number in range(self.files):
            (self.source / f"{number:03}").write_bytes(chance.randbytes(self.file_bytes))
        calpe.must(GOOD, "protect", self.source, "--keep-original", "--data", DATA, "--parity",
                   PARITY, "--block-bytes", self.block, "-o", self.parity)
        self.stripes = -(-self.files * self.file_bytes // (DATA * self.block))

    def table_bytes(self):
        """Of all parity files: all but the blocks."""
        return sum(path.stat().st_size for path in self.parity.iterdir()) \
            - PARITY * self.stripes * self.block

    def run_counted(self, *words):
        """Returns what the program printed as JSON, and the bytes it read and wrote."""
        with subprocess.Popen(self.calpe.arguments(*words, "--json"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            text = child.stdout.read()
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            counts = dict(line.split(": ") for line in
                          pathlib.Path(f"/proc/{child.pid}/io").read_text().splitlines())
            child.wait()
            expect(child.returncode == GOOD, f"{words}: {child.stderr.read()}")
        return json.loads(text), int(counts["rchar"]), int(counts["wchar"])

    def update(self, code=GOOD, *options):
        return self.calpe.must(code, "update", self.source, self.parity, *options)

    def verify(self, code=GOOD):
        done = self.calpe.must(code, "verify", self.parity, "--original", self.source, "--json")
        return {pathlib.Path(state["path"]).name: state["state"]
                for state in json.loads(done.text)["originals"]}

    def repair(self):
        self.calpe.must(GOOD, "repair", self.parity, "--original", self.source)

    def check_cost(self):
        tables = self.table_bytes()
        path = self.source / "007"
        flip(path, 10, self.file_bytes - 10)
        told, was_read, was_written = self.run_counted("update", self.source, self.parity)
        expect(told["changed"] == ["007"] and not told["parity_rebuilt"], f"{told}")
        touched = told["stripes_by_encode"]
        expect(1 <= touched <= 2, f"{touched} stripes; expected those of two bytes")
        # Parity that shares a block with another file shows whether that file is still good.
        most_read = self.file_bytes + 2 * self.block + touched * (DATA + PARITY) * self.block
        # Tables: to check them, as old and as new ones, and from the journal.
        most_journal = touched * PARITY * self.block + tables
        most_read += 4 * tables + most_journal + PROGRAM_BYTES
        expect(was_read <= most_read, f"read {was_read} bytes; expected at most {most_read}")
        most_written = 2 * most_journal + PROGRAM_BYTES // 10
        expect(was_written <= most_written,
               f"wrote {was_written} bytes; expected at most {most_written}")
        expect(self.verify() == {}, "damaged after update")
        content = path.read_bytes()
        path.unlink()
        self.repair()
        expect(path.read_bytes() == content, "repaired to other bytes")
        return (f"2 bytes of {self.files * self.file_bytes}: {was_read} read, "
                f"{was_written} written")

    def check_unchanged(self):
        """Nothing but the tables is read if nothing changed."""
        self.update()
        told, was_read, was_written = self.run_counted("update", self.source, self.parity)
        expect(told["parity_files"] == [], f"{told}")
        most = 3 * self.table_bytes() + PROGRAM_BYTES
        expect(was_read <= most, f"read {was_read} bytes; expected at most {most}")
        expect(was_written < PROGRAM_BYTES // 10, f"wrote {was_written} bytes")

    def check_damage(self):
        """Damage gets neither into parity nor into checksums."""
        far, near = self.source / "000", self.source / "008"
        contents = {path: path.read_bytes() for path in (far, near)}
        flip(far, 5 * self.block, keeps_time=True)
        flip(self.source / "007", 100)
        self.update()
        expect(self.verify(DAMAGED) == {"000": "damaged"}, "damage that was not read is gone")
        self.repair()
        expect(far.read_bytes() == contents[far], "not repaired")
        before = command.read_files(self.parity)
        flip(self.source / "007", self.file_bytes - 1)
        flip(near, 0, keeps_time=True)  # of the same block
        done = self.update(DAMAGED)
        expect(f"{near} is damaged" in done.errors and "run calpe repair first" in done.errors,
               done.errors)
        expect(command.read_files(self.parity) == before, "a refused update changed parity")
        self.repair_all_but("007")
        expect(near.read_bytes() == contents[near], "not repaired")
        self.update()
        expect(self.verify() == {}, "damaged after update")
        flip(far, 5 * self.block, keeps_time=True)
        done = self.update(DAMAGED, "--checksum")
        expect(f"{far} is damaged" in done.errors, done.errors)
        self.repair()

    def repair_all_but(self, name):
        done = self.calpe.run("repair", self.parity, "--original", self.source)
        expect(done.returncode == DAMAGED and name in done.errors, done.errors)

    def killed_update(self, faults, at):
        log = self.folder / "log"
        done = self.calpe.run(
            "update", self.source, self.parity, "--jobs", 1,
            environment={**os.environ, "LD_PRELOAD": faults, "CALPE_FAULT_KIND": "kill",
                         "CALPE_FAULT_ROOT": str(self.parity), "CALPE_FAULT_AT": str(at),
                         "CALPE_FAULT_LOG": str(log)})
        wanted = -signal.SIGKILL if at else GOOD
        expect(done.returncode == wanted, f"update, call {at}: {done.returncode} {done.errors}")
        return int(log.read_text().split()[0])

    def restored(self):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.calpe.must(GOOD, "restore", self.parity, "--original", self.source, "-o", out,
                        "--only", "007")
        return next(path for path in out.rglob("007")).read_bytes()

    def check_killed(self, faults):
        """Old or new parity is complete, with any one parity file lost, and can be completed."""
        changed = self.source / "007"
        old = changed.read_bytes()
        parity = command.read_files(self.parity)
        flip(changed, self.file_bytes // 2)
        new = changed.read_bytes()
        calls = self.killed_update(faults, 0)
        counts = {"old": 0, "new": 0}
        step = 1 if command.is_nightly() else max(1, calls // POINTS)
        for at in range(1, calls + 1, step):
            command.write_files(parity, self.parity)
            self.killed_update(faults, at)
            state = command.read_files(self.parity)
            whole = self.restored()
            expect(whole in (old, new), f"call {at}: neither the old nor the new file")
            counts["new" if whole == new else "old"] += 1
            for lost in ("s004", "s005"):
                command.write_files({path: content for path, content in state.items()
                                     if lost not in path.name}, self.parity)
                rest = self.restored()
                expect(rest == new or whole == rest, f"call {at}: {lost} lost: another state")
            command.write_files(state, self.parity)
            self.update()
            expect(self.verify() == {}, f"call {at}: damaged after the next update")
            expect(self.restored() == new, f"call {at}: not the new file")
            left = [path.name for path in self.parity.iterdir() if path.name.startswith(".")]
            expect(not left, f"call {at}: {left} were left")
        expect(min(counts.values()) > 0, f"{counts}")
        return f"killed at {counts['old'] + counts['new']} of {calls} calls"


def check_shared_blocks(calpe, folder, chance):
    """Unchanged files in blocks of changed ones, where too little is left to rebuild the block:
    their digests show whether they are good."""
    folder.mkdir()
    source, parity = folder / "source", folder / "parity"
    source.mkdir()
    for name in "abcd":
        (source / name).write_bytes(chance.randbytes(2000))
    calpe.must(GOOD, "protect", source, "--keep-original", "--data", 2, "--parity", 1,
               "--block-bytes", 4032, "-o", parity)
    with open(source / "a", "ab") as file:
        file.write(b"x")
    flip(source / "c", 0)
    flip(source / "b", 100, keeps_time=True)
    done = calpe.must(DAMAGED, "update", source, parity)
    expect(f"{source / 'b'} is damaged" in done.errors, done.errors)
    flip(source / "b", 100, keeps_time=True)
    calpe.must(GOOD, "update", source, parity)
    for name in "ac":
        (source / name).write_bytes(chance.randbytes(2000))
    shutil.copytree(source, folder / "copy")
    calpe.must(GOOD, "restore", parity, "--original", source, "-o", folder / "out", "--only", "b")
    restored = next(path for path in (folder / "out").rglob("b"))
    expect(restored.read_bytes() == (source / "b").read_bytes(), "restored to other bytes")
    done = calpe.must(GOOD, "update", source, parity, "--json")
    expect(json.loads(done.text)["unchecked"] == [] and "note" not in done.errors, done.text)


def check_renamed(calpe, folder, chance):
    """Damage of a file that was renamed is not taken for another file."""
    folder.mkdir()
    source, parity = folder / "source", folder / "parity"
    source.mkdir()
    for name in "abcd":
        (source / name).write_bytes(chance.randbytes(20_000))
    calpe.must(GOOD, "protect", source, "--keep-original", "--data", 2, "--parity", 1,
               "--block-bytes", 4032, "-o", parity)
    (source / "b").rename(source / "e")
    flip(source / "e", 10_000, keeps_time=True)
    done = calpe.must(DAMAGED, "update", source, parity)
    expect(f"{source / 'e'} is damaged: it has the size and time of b" in done.errors, done.errors)
    calpe.must(GOOD, "repair", parity, "--original", source)
    (source / "e").unlink()
    (source / "b").rename(source / "e")
    told = json.loads(calpe.must(GOOD, "update", source, parity, "--json").text)
    expect(told["added"] == ["e"] and told["stripes_by_encode"] == 0, f"{told}")
    calpe.must(GOOD, "verify", parity, "--original", source)


def main():
    calpe = command.Calpe(sys.argv[1])

    def work(folder, chance):
        large = UpdateKept(calpe, folder / "large", chance, LARGE)
        said = large.check_cost()
        large.check_unchanged()
        large.check_damage()
        check_shared_blocks(calpe, folder / "shared", chance)
        check_renamed(calpe, folder / "renamed", chance)
        if len(sys.argv) > 2:
            small = UpdateKept(calpe, folder / "small", chance, SMALL)
            said += "; " + small.check_killed(sys.argv[2])
        return said

    return command.run_with_seed("update_kept", work, fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
