# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of counted_work with callgrind, on every path that valgrind supports.

Valgrind 3.19 supports neither AVX-512 nor GFNI; kernel_loops.py covers those.
"""
import os
import pathlib
import re
import subprocess
import tempfile

PATHS = ("scalar", "ssse3", "avx2")
EXIT_NO_SUCH_PATH = 3


class CallsError(Exception):
    """Valgrind or the program failed."""


def run_program(program, path, folder):
    """(standard output, None), or (None, reason) if this machine lacks the path."""
    # Bind symbols at startup, so that the loader's work is not counted.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CALPE_")} | {"LD_BIND_NOW": "1"}
    done = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
         f"--callgrind-out-file={folder}/out", program, f"cpu:{path}"],
        capture_output=True, text=True, env=environment)
    if done.returncode == EXIT_NO_SUCH_PATH:
        return None, done.stderr.strip()
    if done.returncode != 0:
        raise CallsError(f"{path}: exit {done.returncode}: {done.stderr}")
    return done.stdout, None


def read_totals(folder):
    """{name of the dump: instructions}"""
    totals = {}
    for file in pathlib.Path(folder).glob("out.*"):
        text = file.read_text(encoding="utf-8")
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if name and total:
            totals[name[1]] = int(total[1])
    return totals


def per_unit(path, output, totals):
    """{"avx2 encode 10+4 hybrid, per 64 B of data": instructions}"""
    counts = {}
    for line in output.splitlines():
        name, unit, units = line.split("\t")
        if totals.get(name, 0) == 0:
            raise CallsError(f"{path} {name}: callgrind counted nothing")
        counts[f"{path} {name}, per {unit}"] = round(totals[name] / int(units), 2)
    if not counts:
        raise CallsError(f"{path}: the program did nothing")
    return counts


def count_calls(program):
    """The counts and the missing paths: ({name: count}, {path: reason})."""
    counts, absent = {}, {}
    for path in PATHS:
        with tempfile.TemporaryDirectory() as folder:
            output, reason = run_program(program, path, folder)
            if reason is None:
                counts.update(per_unit(path, output, read_totals(folder)))
            else:
                absent[path] = reason
    return counts, absent
