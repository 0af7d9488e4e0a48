#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every style of device kernel under oclgrind, which must only report planted bugs.

Usage: oclgrind_test.py SMALL_KERNELS. Exits with 77 (skipped) and a reason if oclgrind is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys


def run(oclgrind, program, *planted):
    # The program opens its OpenCL library by name, so LD_PRELOAD does not reach it.
    library = pathlib.Path(oclgrind).resolve().parent.parent / "lib/oclgrind/liboclgrind-rt.so"
    environment = dict(os.environ, CALPE_OPENCL_LIBRARY=str(library))
    result = subprocess.run(
        [oclgrind, "--data-races", "--uninitialized", "--max-errors", "1000", program, *planted],
        env=environment, capture_output=True, text=True, errors="replace", timeout=280)
    return result.returncode, result.stdout, result.stderr


def main():
    program = sys.argv[1]
    oclgrind = shutil.which("oclgrind")
    if oclgrind is None:
        print("skipped: oclgrind is not installed: apt install oclgrind")
        return 77
    status, output, report = run(oclgrind, program)
    print(output, end="")
    if status != 0 or report.strip() or "Oclgrind" not in output:
        print(f"exit code {status}; expected 0 and no report:\n{report[:3000]}")
        return 1
    for planted, expected in (("barrier", "data race at local memory"), ("index", "Invalid read")):
        _, _, report = run(oclgrind, program, planted)
        if expected not in report:
            print(f"planted {planted}: \"{expected}\" is not in the report:\n{report[:3000]}")
            return 1
        print(f"planted {planted}: reported, \"{expected}\"")
    return 0


if __name__ == "__main__":
    sys.exit(main())
