#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks registers and scratch memory of the OpenCL kernels in the machine code of clang for AMD.

Usage: amd_budgets.py WRITE_TEXTS, the program that writes the kernels. Prints a table. Exits with
77 (skipped) and a reason if clang is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100")
# The work-item functions, which a driver's library would add.
PRELUDE = """
#define get_group_id(d) ((ulong)((d) == 0 ? __builtin_amdgcn_workgroup_id_x() : \\
    (d) == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z()))
#define get_local_id(d) ((ulong)__builtin_amdgcn_workitem_id_x())
#define get_global_id(d) (get_group_id(d) * 64 + __builtin_amdgcn_workitem_id_x())
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def main():
    clang = shutil.which("clang-19")
    if not clang:
        skip("clang-19 is not installed: .ci/install")
    over = []
    print(f"{'':42} {'':8} scratch  limit  registers")
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([sys.argv[1], folder, "opencl"], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        for line in lines:
            name, limit = line.split()
            source = pathlib.Path(folder, name + ".cl")
            source.write_text(PRELUDE + source.read_text())
            for architecture in ARCHITECTURES:
                assembly = source.with_suffix(".s")
                subprocess.run(
                    [clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header",
                     "-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-nogpulib", "-O3",
                     "-S", source, "-o", assembly], check=True, stderr=subprocess.DEVNULL)
                text = assembly.read_text()
                scratch = [int(n) for n in re.findall(r"; ScratchSize: (\d+)", text)]
                registers = [int(n) for n in re.findall(r"; NumVgprs: (\d+)", text)]
                if not scratch:
                    over.append(f"{name}: nothing was counted")
                    continue
                print(f"{name:42} {architecture:8} {max(scratch):7}  {limit:>5}  "
                      f"{max(registers):9}")
                if max(scratch) > int(limit):
                    over.append(f"{name} on {architecture}: {max(scratch)} bytes of scratch memory "
                                f"per work-item; expected at most {limit}")
    for problem in over:
        print(problem)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
