# SPDX-License-Identifier: Apache-2.0
"""Tools that protect or copy a directory tree, for `bench/files.py --tree`.

The tree has four directories, d1 to d4, which stand for disks. `lose` removes d1 and d2: half of
the data. Each tool creates its protection, takes up a change of 1 %, checks everything, and puts
the lost half back. restic and rclone make a copy: they survive the loss of the tree, but not of the
copy.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

DISKS = ("d1", "d2", "d3", "d4")
LOST = DISKS[:2]
FILES = 100  # of equal size, so each is 1 % of the data
PARITY = 2
OPERATIONS = ("create", "update", "check", "repair")
SNAPRAID_BLOCK_KIB = 256  # its default
PAR2_BLOCKS = 2000  # its default


def run(commands, folder, environment=None):
    """Runs commands in turn. Returns seconds, bytes written, and the largest memory of them."""
    total = {"wall": 0.0, "user": 0.0, "system": 0.0, "written": 0, "memory": 0}
    for command in commands:
        with open(folder / "log", "wb") as log:
            start = time.monotonic()
            child = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=log,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     env=os.environ | (environment or {}))
            _, status, used = os.wait4(child.pid, 0)
            total["wall"] += time.monotonic() - start
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            print(f"files: {command} ended with {child.returncode}:", file=sys.stderr)
            print((folder / "log").read_text(errors="replace")[-2000:], file=sys.stderr)
            sys.exit(2)
        total["user"] += used.ru_utime
        total["system"] += used.ru_stime
        total["written"] += used.ru_oublock * 512
        total["memory"] = max(total["memory"], used.ru_maxrss * 1024)
    return total


def version_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = (done.stdout + done.stderr).split()
    return next((word.strip(",:v") for word in words if word.strip(",:v")[:1].isdigit()), "?")


class Tool:
    """A tool in a directory of its own: `tree` is the data, `store` what the tool makes."""
    covers = ""  # what it survives
    variant = ""
    environment = None

    def __init__(self, program):
        self.program = program
        self.tree = self.store = self.folder = None

    def available(self):
        return self.program is not None and pathlib.Path(self.program).exists()

    def version(self):
        return version_of(self.program, "--version")

    def open(self, folder):
        self.folder, self.tree, self.store = folder, folder / "tree", folder / "store"
        self.store.mkdir()

    def run(self, *commands):
        return run(commands, self.folder, self.environment)

    def lose(self):
        for name in LOST:
            shutil.rmtree(self.tree / name)
            (self.tree / name).mkdir()

    def restored(self):
        """Where the data is after repair."""
        return self.tree


class CalpeShards(Tool):
    """The data and its parity, spread over six directories. Two of them are lost."""
    name, variant = "calpe", "shards"
    covers = "any 2 of 6 directories"

    def shard_folders(self):
        return [self.store / f"s{index}" for index in range(len(DISKS) + PARITY)]

    def create(self):
        for folder in self.shard_folders():
            folder.mkdir()
        outputs = [word for folder in self.shard_folders() for word in ("-o", folder)]
        return self.run([self.program, "protect", self.tree, "--data", len(DISKS), "--parity",
                         PARITY, *outputs])

    def update(self):
        return self.run([self.program, "update", self.tree, *self.shard_folders()])

    def check(self):
        return self.run([self.program, "verify", *self.shard_folders()])

    def lose(self):
        for folder in self.shard_folders()[:PARITY]:
            shutil.rmtree(folder)
            folder.mkdir()

    def restored(self):
        self.run([self.program, "restore", *self.shard_folders()[:len(DISKS)], "-o",
                  self.folder / "restored"])
        return self.folder / "restored"

    def repair(self):
        return self.run([self.program, "repair", *self.shard_folders()])


class CalpeOriginals(Tool):
    """Parity next to the data, which stays as it is."""
    name, variant = "calpe", "--keep-original"
    covers = "any 2 of 6 parts of the data and parity"

    def create(self):
        return self.run([self.program, "protect", self.tree, "--keep-original", "--data",
                         len(DISKS), "--parity", PARITY, "-o", self.store])

    def update(self):
        return self.run([self.program, "update", self.tree, self.store])

    def check(self):
        return self.run([self.program, "verify", self.store, "--original", self.tree])

    def repair(self):
        return self.run([self.program, "repair", self.store, "--original", self.tree])


class Par2Tree(Tool):
    """Half as many recovery blocks as blocks, so that it can put back half of the files."""

    name = "par2cmdline-turbo"

    def __init__(self, program, blocks):
        super().__init__(program)
        self.blocks = blocks
        self.variant = f"{blocks} blocks"
        self.covers = f"any {blocks // 2} of {blocks} blocks"

    def version(self):
        return version_of(self.program, "-V")

    def create(self):
        files = sorted(self.tree.rglob("*.bin"))
        counts = [f"-b{self.blocks}", f"-c{self.blocks // 2}", "-n1"]
        return self.run([self.program, "create", "-q", "-q", *counts, "-B", self.tree,
                         self.store / "p.par2", *files])

    def update(self):
        shutil.rmtree(self.store)
        self.store.mkdir()
        return self.create()

    def command(self, verb):
        return self.run([self.program, verb, "-q", "-q", "-B", self.tree, self.store / "p.par2"])

    def check(self):
        return self.command("verify")

    def repair(self):
        return self.command("repair")


class SnapRaid(Tool):
    """The four directories as data disks, and two more for parity."""
    name = "SnapRAID"
    covers = "any 2 of 6 disks"

    def open(self, folder):
        super().open(folder)
        for name in ("p1", "p2", "content"):
            (self.store / name).mkdir()
        lines = [f"parity {self.store}/p1/parity", f"2-parity {self.store}/p2/parity",
                 f"block_size {SNAPRAID_BLOCK_KIB}",
                 *[f"content {self.store}/{name}/content" for name in ("p1", "p2", "content")],
                 *[f"data {name} {self.tree}/{name}" for name in DISKS]]
        (folder / "snapraid.conf").write_text("\n".join(lines) + "\n")

    def version(self):  # Debian's program says "none"
        return version_of("dpkg-query", "-W", "-f=${Version}", "snapraid")

    def command(self, *words):
        # All directories are on one device here, which SnapRAID refuses without the option.
        return self.run([self.program, "--test-skip-device", "-c", self.folder / "snapraid.conf",
                         *words])

    def create(self):
        return self.command("sync")

    update = create

    def check(self):
        return self.command("-p", "full", "scrub")

    def repair(self):
        return self.command("fix")


class Restic(Tool):
    """An encrypted, deduplicated repository without redundancy of its own."""
    name = "restic"
    covers = "the tree, not the repository"
    environment = {"RESTIC_PASSWORD": "measured"}

    def version(self):
        return version_of(self.program, "version")

    def command(self, *words):
        return [self.program, "--no-cache", "-q", "-r", self.store / "repository", *words]

    def create(self):
        return self.run(self.command("init"), self.command("backup", self.tree))

    def update(self):
        return self.run(self.command("backup", self.tree))

    def check(self):
        return self.run(self.command("check", "--read-data"))

    def repair(self):
        included = [word for name in LOST for word in ("--include", self.tree / name)]
        return self.run(self.command("restore", "latest", "--target", "/", *included))


class Rclone(Tool):
    """A plain copy, compared by its hashes."""
    name = "rclone"
    covers = "the tree, not the copy"

    def command(self, *words):
        return self.run([self.program, "--config", os.devnull, "-q", *words])

    def version(self):
        return version_of(self.program, "version")

    def create(self):
        return self.command("copy", self.tree, self.store)

    def update(self):
        return self.command("sync", self.tree, self.store)

    def check(self):
        return self.command("check", self.tree, self.store)

    def repair(self):
        return self.command("copy", self.store, self.tree)


def make_tree(folder, size):
    each = size // FILES
    for number in range(FILES):
        path = folder / DISKS[number * len(DISKS) // FILES] / f"{number:03}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(each))


def change(tree):
    """Replaces one file, 1 % of the data, on a directory that is lost later."""
    path = tree / DISKS[0] / "007.bin"
    path.write_bytes(os.urandom(path.stat().st_size))


def bytes_in(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def is_equal(left, right):
    return subprocess.run(["diff", "-rq", left, right], stdout=subprocess.DEVNULL,
                          check=False).returncode == 0


def measure_tool(tool, source, folder):
    """Returns the figures of each operation, and the bytes stored after create and update."""
    shutil.copytree(source, folder / "tree")
    tool.open(folder)
    results = {}
    for operation in OPERATIONS:
        if operation == "update":
            change(tool.tree)
        if operation == "repair":
            shutil.copytree(tool.tree, folder / "expected")
            tool.lose()
        os.sync()
        results[operation] = getattr(tool, operation)()
        if operation in ("create", "update"):
            results[operation]["stored"] = bytes_in(tool.store)
    if not is_equal(tool.restored(), folder / "expected"):
        sys.exit(f"files: {tool.name} did not restore the tree")
    return results


def tools(calpe, par2):
    """All tools, with the programs that are installed."""
    return [CalpeShards(calpe), CalpeOriginals(calpe), Par2Tree(par2, FILES),
            Par2Tree(par2, PAR2_BLOCKS),
            *[kind(shutil.which(kind.name.lower())) for kind in (SnapRaid, Restic, Rclone)]]


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        cpu = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    return {"cpu": cpu, "cores": os.cpu_count(), "load_average": os.getloadavg()[0]}


def measure(every, size, rounds, work):
    """Interleaved rounds on one tree. The round with the least CPU time counts."""
    report = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "bytes": size,
              "rounds": rounds, "tools": []}
    source = work / "source"
    make_tree(source, size)
    samples = [[] for _ in every]
    for _ in range(rounds):
        for tool, done in zip(every, samples):
            with tempfile.TemporaryDirectory(dir=work) as folder:
                done.append(measure_tool(tool, source, pathlib.Path(folder)))
    report["machine"]["load_average_after"] = os.getloadavg()[0]
    for tool, done in zip(every, samples):
        best = {operation: min((one[operation] for one in done), key=cpu_seconds)
                for operation in OPERATIONS}
        report["tools"].append({"name": tool.name, "version": tool.version(),
                                "variant": tool.variant, "covers": tool.covers,
                                "operations": best})
    return report


def cpu_seconds(used):
    return used["user"] + used["system"]


def rows(report):
    """Yields the cells of a table: tool and version, then CPU and wall of each operation, and the
    bytes stored after create and written by update, per byte of data."""
    for tool in report["tools"]:
        done = tool["operations"]
        variant = f", {tool['variant']}" if tool["variant"] else ""
        cells = [f"{tool['name']} {tool['version']}{variant}"]
        for operation in OPERATIONS:
            cells.append(f"{cpu_seconds(done[operation]):.2f} ({done[operation]['wall']:.1f})")
        cells.append(f"{done['create']['stored'] / report['bytes']:.2f}")
        cells.append(f"{100 * done['update']['written'] / report['bytes']:.1f} %")
        cells.append(f"{max(one['memory'] for one in done.values()) >> 20}")
        yield cells


HEAD = ("program", *OPERATIONS, "stored", "written by update", "MiB of memory")


def print_report(report):
    where = report["machine"]
    print(f"{report['bytes'] >> 20} MiB in {FILES} files; seconds of CPU (wall), load average "
          f"{where['load_average']:.1f} to {where['load_average_after']:.1f}")
    for cells in (HEAD, *rows(report)):
        print(f"{cells[0]:<42}" + "".join(f"{cell:>18}" for cell in cells[1:]))
