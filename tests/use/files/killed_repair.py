#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A killed repair of kept originals: killed_repair.py CALPE FAULTS

A directory, a file and the end of another are lost. repair is killed at calls that touch the
originals: no call may leave a file that is neither the damaged nor the protected one, update must
not take over temporary files or modes, and the next repair completes it. CALPE_NIGHTLY=1 kills at
every call. Also checks how much repair reads.
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
import trees  # noqa: E402, pylint: disable=wrong-import-position
from command import GOOD, expect  # noqa: E402, pylint: disable=wrong-import-position

POINTS = 25
PREFIX = ".calpe-restore-"


def make_tree(tree, chance):
    (tree / "d/deeper").mkdir(parents=True)
    for name in ("a", "b", "c", "d/e", "d/deeper/f"):
        (tree / name).write_bytes(chance.randbytes(5000))
    (tree / "d").chmod(0o755)
    (tree / "d/deeper").chmod(0o750)
    for path in (tree / "d/deeper", tree / "d", tree):
        os.utime(path, ns=(10**18, 10**18))


def damage(tree):
    shutil.rmtree(tree / "d")
    (tree / "a").unlink()
    about = (tree / "b").stat()
    os.truncate(tree / "b", 3000)
    os.utime(tree / "b", ns=(about.st_atime_ns, about.st_mtime_ns))
    os.utime(tree, ns=(10**18, 10**18))  # repair keeps the times of directories


def without_folder_times(snapshot):
    """A killed repair has changed them, and the next one does not know what they were."""
    return {path: is_now[:2] if is_now[0] == "folder" else is_now
            for path, is_now in snapshot.items()}


class KilledRepair:
    def __init__(self, calpe, faults, folder, chance):
        self.calpe, self.faults, self.folder = calpe, faults, folder
        self.whole, self.tree, self.parity = (folder / name for name in ("whole", "tree", "parity"))
        make_tree(self.tree, chance)
        calpe.must(GOOD, "protect", self.tree, "--keep-original", "--data", 2, "--parity", 2,
                   "--block-bytes", 512, "-o", self.parity)
        trees.copy_tree(self.tree, self.whole)
        self.expected = trees.snapshot(self.whole)

    def reset(self):
        shutil.rmtree(self.tree)
        trees.copy_tree(self.whole, self.tree)
        damage(self.tree)
        return trees.snapshot(self.tree)

    def killed(self, at):
        log = self.folder / "log"
        done = self.calpe.run(
            "repair", self.parity, "--original", self.tree, "--jobs", 1,
            environment={**os.environ, "LD_PRELOAD": self.faults, "CALPE_FAULT_KIND": "kill",
                         "CALPE_FAULT_ROOT": str(self.tree), "CALPE_FAULT_AT": str(at),
                         "CALPE_FAULT_LOG": str(log)})
        wanted = -signal.SIGKILL if at else GOOD
        expect(done.returncode == wanted, f"repair, call {at}: {done.returncode} {done.errors}")
        return int(log.read_text().split()[0])

    def check_state(self, damaged, at):
        """Each file is as before or restored; a restored directory has its mode."""
        now = trees.snapshot(self.tree)
        for path, is_now in now.items():
            if os.path.basename(path).startswith(PREFIX):
                continue
            if is_now[0] == "folder":
                expect(is_now[1] == self.expected[path][1], f"call {at}: mode of {path}")
            else:
                expect(is_now in (damaged.get(path), self.expected[path]),
                       f"call {at}: {path} is neither the old nor the new file")
        return any(os.path.basename(path).startswith(PREFIX) for path in now)

    def check_kills(self):
        damaged = self.reset()
        calls = self.killed(0)
        found = trees.difference(self.expected, trees.snapshot(self.tree))
        expect(found is None, f"not repaired: {found}")
        left = 0
        step = 1 if command.is_nightly() else max(1, calls // POINTS)
        for at in range(1, calls + 1, step):
            self.reset()
            self.killed(at)
            left += self.check_state(damaged, at)
            done = self.calpe.run("update", self.tree, self.parity, "--dry-run", "--json")
            if done.returncode == GOOD:
                told = json.loads(done.text)
                expect(told["added"] == [], f"call {at}: update adds {told['added']}")
            self.calpe.must(GOOD, "repair", self.parity, "--original", self.tree)
            found = trees.difference(without_folder_times(self.expected),
                                     without_folder_times(trees.snapshot(self.tree)))
            expect(found is None, f"call {at}: {found}")
        expect(left > 0, "no kill left a temporary file")
        return f"killed at {len(range(1, calls + 1, step))} of {calls} calls, {left} left files"


def read_by_repair(calpe, tree, parity):
    """Bytes that the system calls of repair read."""
    with subprocess.Popen(calpe.arguments("repair", parity, "--original", tree),
                          stdout=subprocess.DEVNULL) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        counts = dict(line.split(": ") for line in
                      pathlib.Path(f"/proc/{child.pid}/io").read_text().splitlines())
        child.wait()
        expect(child.returncode == GOOD, "repair failed")
    return int(counts["rchar"])


def check_reads(calpe, folder, chance):
    """Each stripe is read to find the damage, and once more where it is damaged, however many of
    its blocks are lost; what was written is read back."""
    folder.mkdir()
    tree, parity, count, size = folder / "tree", folder / "parity", 40, 400_000
    tree.mkdir()
    for number in range(count):
        (tree / f"{number:02}").write_bytes(chance.randbytes(size))
    calpe.must(GOOD, "protect", tree, "--keep-original", "--data", 4, "--parity", 2,
               "--block-bytes", 16384, "-o", parity)
    contents = {path: path.read_bytes() for path in tree.iterdir()}
    content_bytes = count * size
    said = []
    for lost in (range(0, 1), range(0, 10), range(0, 20), range(10, 30)):
        for number in lost:
            (tree / f"{number:02}").unlink()
        was_read = read_by_repair(calpe, tree, parity)
        expect({path: path.read_bytes() for path in tree.iterdir()} == contents, "not repaired")
        lost_bytes = len(lost) * size
        stripes = min(1.0, 4 * lost_bytes / content_bytes)  # damaged ones
        # All blocks that are left, those of damaged stripes twice, and what was restored.
        present = 1.5 * content_bytes - lost_bytes
        most = (1 + stripes) * present + lost_bytes + 1_500_000
        expect(was_read <= most, f"{len(lost)} of {count} files lost: read "
               f"{was_read / content_bytes:.2f} times the data; expected at most "
               f"{most / content_bytes:.2f}")
        said.append(f"{was_read / content_bytes:.2f}")
    return f"read {', '.join(said)} times the data for 1, 10, 20 and 20 of {count} files"


def main():
    calpe = command.Calpe(sys.argv[1])

    def work(folder, chance):
        (folder / "kill").mkdir()
        said = KilledRepair(calpe, sys.argv[2], folder / "kill", chance).check_kills()
        return said + "; " + check_reads(calpe, folder / "reads", chance)

    return command.run_with_seed("killed_repair", work, fixed_seed=33)


if __name__ == "__main__":
    sys.exit(main())
