# SPDX-License-Identifier: Apache-2.0
"""Shared by damage.py, kill.py, faults.py and others: runs the command on sets."""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

GOOD, DAMAGED, LOST, USAGE, IO = range(5)  # exit codes
SECONDS_MAX = 60


class Failure(Exception):
    """A failed check."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


def is_nightly():
    return os.environ.get("CALPE_NIGHTLY", "0") not in ("", "0")


class Calpe:
    def __init__(self, program):
        self.program = program

    def arguments(self, *arguments):
        return [self.program, *map(str, arguments)]

    def run(self, *arguments, environment=None):
        done = subprocess.run(self.arguments(*arguments), capture_output=True, check=False,
                              env=environment, timeout=SECONDS_MAX)
        done.errors = done.stderr.decode(errors="replace")
        done.text = done.stdout.decode(errors="replace")
        return done

    def must(self, code, *arguments):
        done = self.run(*arguments)
        expect(done.returncode == code, f"calpe {' '.join(map(str, arguments))}: exit "
               f"{done.returncode}; expected {code}: {done.text[:1000]}{done.errors[:1000]}")
        return done


def read_files(*folders):
    return {path: path.read_bytes() for folder in folders if folder.is_dir()
            for path in sorted(folder.iterdir())}


def write_files(files, *folders):
    """Makes the directories contain exactly these files."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for path, content in files.items():
        path.write_bytes(content)


MEMORY = "/dev/shm"  # avoids thousands of syncs to a disk


def run_with_seed(name, work, in_memory=True, fixed_seed=None):
    """Runs work(folder, chance) in a temporary directory. Prints the seed, which can be passed."""
    place = MEMORY if in_memory and os.access(MEMORY, os.W_OK) else None
    usual = time.time_ns() % 10**9 if fixed_seed is None else fixed_seed
    seed = int(os.environ.get("CALPE_TEST_SEED") or usual)
    print(f"{name}: CALPE_TEST_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="calpe-files-", dir=place) as folder:
        try:
            print(f"{name}: {work(pathlib.Path(folder), random.Random(seed))}")
        except Failure as failure:
            print(f"{name}: {failure}")
            return 1
    return 0


def program_from_arguments():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} CALPE ...")
    return Calpe(sys.argv[1])
