#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that fails at every call of the commands: faults.py CALPE LIBRARY [NAME...]

EIO at every call, ENOSPC at every call that may need space, half of every read and write, and kill
-9 before every call. LIBRARY is faults.cpp. After an error the command must name a file below the
directory, exit with 4 and leave the previous state. Where it can work around the fault, its result
must be complete. NAME: run only these of protect, repair, update, restore and add-parity.
add-parity makes many calls, so every sixth is tried, and all with CALPE_NIGHTLY=1.
"""
import errno
import os
import pathlib
import re
import shutil
import signal
import sys

import command
import trees
from command import DAMAGED, GOOD, IO, LOST, USAGE, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import reader  # noqa: E402, pylint: disable=wrong-import-position

KILLED = -signal.SIGKILL
K, M, BLOCK_BYTES = 2, 2, 512


class Faults:
    def __init__(self, calpe, library, folder, chance):
        self.calpe, self.library, self.folder, self.chance = calpe, library, folder, chance
        self.targets = [folder / "one", folder / "two"]
        self.log, self.out, self.tree = folder / "log", folder / "out", folder / "tree"
        self.counts = {}
        self.tree.mkdir()
        (self.tree / "data").write_bytes(chance.randbytes(3000))
        (self.tree / "folder").mkdir()
        (self.tree / "folder" / "more").write_bytes(chance.randbytes(700))
        with open(self.tree / "holes", "wb") as file:
            file.seek(20000)
            file.write(b"behind a hole")
        self.seen = trees.snapshot(self.tree)
        self.calpe.must(GOOD, *self.protect_arguments())
        self.whole = command.read_files(*self.targets)
        self.edited = folder / "edited"
        trees.copy_tree(self.tree, self.edited)
        (self.edited / "data").write_bytes(chance.randbytes(3500))
        (self.edited / "folder" / "more").unlink()
        (self.edited / "new").write_bytes(b"new")
        self.edited_seen = trees.snapshot(self.edited)

    def protect_arguments(self):
        outputs = [part for target in self.targets for part in ("-o", target)]
        return ["protect", self.tree, "--name", "set", "--data", K, "--parity", M, "--block-bytes",
                BLOCK_BYTES, "--overwrite", "--io", "threads", *outputs]

    def run(self, kind, at, arguments):
        """Returns (result, calls, function that failed)."""
        self.log.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": self.library, "CALPE_FAULT_KIND": kind,
                       "CALPE_FAULT_ROOT": str(self.folder), "CALPE_FAULT_AT": str(at),
                       "CALPE_FAULT_LOG": str(self.log)}
        done = self.calpe.run(*arguments, environment=environment)
        calls, function = self.log.read_text(encoding="utf-8").split()
        return done, int(calls), function

    def every_call(self, name, prepare, arguments, check, usual=GOOD, step=1):
        """`usual`: the exit code without a fault; `step`: fail only every step-th call."""
        for kind in ("EIO", "ENOSPC", "short", "kill"):
            prepare()
            done, calls, _ = self.run(kind, 0, arguments)
            expect(done.returncode == usual, f"{name} without a fault: {done.errors}")
            for at in range(1 + self.chance.randrange(step), calls + 1, step):
                prepare()
                done, _, function = self.run(kind, at, arguments)
                expect(function != "-", f"{name}: call {at} of {calls} was not reached")
                try:
                    self.check_answer(done, kind, usual)
                    check(done.returncode, done.errors)
                except command.Failure as failure:
                    raise command.Failure(f"{name}, {kind} at call {at} of {calls} ({function}): "
                                          f"{failure}\n{done.errors}")
                outcome = {usual: " did without", KILLED: ""}.get(done.returncode, " failed")
                key = f"{name} {kind}{outcome}"
                self.counts[key] = self.counts.get(key, 0) + 1

    def check_answer(self, done, kind, usual):
        if kind == "kill":
            expect(done.returncode == KILLED, f"exit {done.returncode}; expected a kill")
            return
        if kind == "short":
            expect(done.returncode == usual, f"exit {done.returncode}; expected {usual}")
            return
        # 2: a directory cannot be read, and the others have too few shards. 1: a shard cannot be
        # read and counts as missing for a command that needs all of them.
        expect(done.returncode in (usual, IO, LOST, DAMAGED), f"exit {done.returncode}; expected 4")
        if done.returncode != GOOD:
            expect(str(self.folder) in done.errors, "the error names no file")

    def files(self):
        return command.read_files(*self.targets)

    # --- protect

    def check_first_protect(self, code, errors):
        if code == DAMAGED:
            self.check_partly_protected(errors)
            return
        if code == GOOD:
            self.calpe.must(GOOD, "verify", *self.targets)
            self.check_restore()
            return
        if code == KILLED:  # nothing, or everything
            if any(path.suffix == ".calpe" for path in self.files()):
                self.check_restore()
            self.check_protect_again()
            return
        expect(code == IO, f"exit {code}; expected 4")
        # Parts remain when a disk is full, and the next run resumes them. An empty one may
        # remain after other errors: it was created, but could not be examined.
        is_full = os.strerror(errno.ENOSPC) in errors
        left = {path for path, raw in self.files().items()
                if path.suffix != ".part" or (raw and not is_full)}
        expect(not left, f"leftovers: {sorted(map(str, left))}")
        if is_full:
            self.check_protect_again()

    def check_partly_protected(self, errors):
        """Everything is protected except what the errors name."""
        named = re.findall(r"^calpe protect: (.*) is not protected: ", errors, re.MULTILINE)
        expect(named, "exit 1, but no file is named")
        self.calpe.must(GOOD, "verify", *self.targets)
        self.check_restore(lost=named)

    def check_second_protect(self, code, errors):
        if code in (GOOD, DAMAGED):
            self.check_first_protect(code, errors)
            return
        if code == KILLED:
            self.check_restore()
            self.check_protect_again()
            return
        expect(code == IO, f"exit {code}; expected 4")
        # The complete old set or, if only removing it failed, the complete new one.
        if {path: self.files().get(path) for path in self.whole} != self.whole:
            self.calpe.must(GOOD, "verify", *self.targets)
            self.check_restore()

    def check_refused_protect(self, _, __):
        expect(self.files() == self.whole, "shards were replaced without --overwrite")

    def check_protect_again(self):
        """Protects again over the leftovers of a kill."""
        self.calpe.must(GOOD, *self.protect_arguments())
        self.calpe.must(GOOD, "verify", *self.targets)
        self.check_restore()

    def check_restore(self, places=None, lost=()):
        """`lost`: paths that are not protected; a directory among them may be there, but empty."""
        self.calpe.must(GOOD, "restore", *(places or self.targets), "-o", self.out)
        found = trees.snapshot(self.out)
        shutil.rmtree(self.out)
        expected = {path: each for path, each in self.seen.items()
                    if not any(path == name or path.startswith(name + "/") for name in lost)}
        found = {path: each for path, each in found.items() if path not in lost}
        different = trees.difference(expected, found)
        expect(different is None, f"restored: {different}")

    # --- repair

    def damaged(self):
        """Loses one shard, and damages a block of another in every second stripe."""
        files = {path: bytearray(raw) for path, raw in self.whole.items()}
        paths = sorted(files)
        del files[paths[1]]
        size = len(files[paths[0]])
        for stripe, offset in enumerate(range(4096, size - 8192, BLOCK_BYTES)):
            if stripe % 2:
                files[paths[(0, 2)[stripe // 2 % 2]]][offset + 5] ^= 8
        files[paths[3]][100] ^= 1  # a header
        return files

    def check_repair(self, code, errors):
        # A file that could not be read stays as it was, with a note, and is recreated.
        is_ready = code == GOOD and "note:" not in errors
        done = self.calpe.run("verify", *self.targets)
        expect(done.returncode in ((GOOD,) if is_ready else (GOOD, DAMAGED)),
               f"verify afterwards: exit {done.returncode}: {done.text}")
        self.check_restore()
        if not is_ready:
            expect(code == KILLED or str(self.folder) in errors, "the note names no file")
            self.calpe.must(GOOD, "repair", *self.targets)
        expect(set(self.whole.values()) <= set(self.files().values()), "not repaired byte for byte")

    # --- update

    def restored(self):
        self.calpe.must(GOOD, "restore", *self.targets, "-o", self.out)
        found = trees.snapshot(self.out)
        shutil.rmtree(self.out)
        return found

    def check_update(self, code, errors):
        expect(code in (GOOD, IO, KILLED, DAMAGED), f"exit {code}")
        found = self.restored()
        expect(found in (self.seen, self.edited_seen), f"neither old nor new: {errors}")
        if code == GOOD:
            expect(found == self.edited_seen, "exit code 0, but not updated")
            return
        self.calpe.must(GOOD, "update", self.edited, *self.targets)
        self.calpe.must(GOOD, "verify", "--deep", *self.targets)
        expect(self.restored() == self.edited_seen, "the second update gave another tree")
        left = [path for path in self.files() if path.suffix not in (".calpe", ".undo")]
        expect(not left, f"update left {left}")

    # --- add-parity

    def check_add_parity(self, code, errors):
        """Expects K+M or K+M+1, complete or with journals, also after the maximum loss."""
        every = [*self.targets, self.folder / "more"]
        if code == GOOD:
            self.calpe.must(GOOD, "verify", *every)
        for places in (every, every[1:], [every[0], every[2]]):
            self.check_restore(places)
            try:
                reader.restore(reader.choose_set(places), self.out)
            except reader.LostStripes as lost:
                raise command.Failure(f"second reader: {lost}: {list(command.read_files(*places))}")
            different = trees.difference(self.seen, trees.snapshot(self.out))
            shutil.rmtree(self.out)
            expect(different is None, f"second reader: {different}")
        if code == GOOD:
            return
        if "the change is committed" in errors or code == KILLED:
            self.calpe.must(GOOD, "repair", *every)
            self.calpe.must(GOOD, "verify", *every)
            left = [path.name for path in command.read_files(*every) if path.suffix == ".redo"]
            expect(not left, f"journals are left: {left}")
            self.check_restore(every)
            return
        expect({path: self.files().get(path) for path in self.whole} == self.whole,
               "shards were changed by a command that failed")

    def run_add_parity(self):
        more = self.folder / "more"

        def prepare():
            command.write_files(self.whole, *self.targets)
            shutil.rmtree(more, ignore_errors=True)
            more.mkdir()
        self.every_call("add-parity", prepare,
                        ["add-parity", *self.targets, "--parity", M + 1, "-o", more],
                        self.check_add_parity, step=1 if command.is_nightly() else 6)

    # --- restore

    def check_restored(self, code, _):
        found = trees.snapshot(self.out) if self.out.exists() else {}
        shutil.rmtree(self.out, ignore_errors=True)
        if code == GOOD:
            different = trees.difference(self.seen, found)
            expect(different is None, f"restored: {different}")
            return
        for path, what in found.items():
            is_temporary = code == KILLED and os.path.basename(path).startswith(".")
            if what[0] == "file" and not is_temporary:
                expect(path in self.seen, f"{path} is left over")
                expect(what[3] == self.seen[path][3], f"{path} has wrong bytes")

    def run_all(self, names):
        for name in names:
            getattr(self, "run_" + name.replace("-", "_"))()
        return ", ".join(f"{what} {count}" for what, count in self.counts.items())

    def run_protect(self):
        self.every_call("protect", lambda: command.write_files({}, *self.targets),
                        self.protect_arguments(), self.check_first_protect)
        self.every_call("protect over", lambda: command.write_files(self.whole, *self.targets),
                        self.protect_arguments(), self.check_second_protect)
        refused = [part for part in self.protect_arguments() if part != "--overwrite"]
        self.every_call("protect refused", lambda: command.write_files(self.whole, *self.targets),
                        refused, self.check_refused_protect, USAGE)

    def run_repair(self):
        damaged = self.damaged()
        self.every_call("repair", lambda: command.write_files(damaged, *self.targets),
                        ["repair", *self.targets], self.check_repair)

    def run_update(self):
        self.every_call("update", lambda: command.write_files(self.whole, *self.targets),
                        ["update", self.edited, *self.targets], self.check_update)

    def run_restore(self):
        damaged = self.damaged()
        self.every_call("restore", lambda: (command.write_files(damaged, *self.targets),
                                            shutil.rmtree(self.out, ignore_errors=True)),
                        ["restore", *self.targets, "-o", self.out], self.check_restored)


def main():
    calpe = command.program_from_arguments()
    return command.run_with_seed(
        "faults", lambda folder, chance: Faults(calpe, sys.argv[2], folder, chance).run_all(
            sys.argv[3:] or ["protect", "repair", "update", "restore", "add-parity"]))


if __name__ == "__main__":
    sys.exit(main())
