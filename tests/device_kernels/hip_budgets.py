#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that HIP kernels of `calpe equations` compile for AMD GPUs and keep nothing in memory.

Usage: hip_budgets.py CALPE. Compiles with clang 19; a few lines replace HIP's header. Exits with 77
(skipped) and a reason if clang is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100")
# 16+4 with words of 8 bits takes more registers than gfx1100 has.
TEXTS = {"10+4": ["--data", "10", "--parity", "4", "--word-bits", "8"],
         "12+4-w4": ["--data", "12", "--parity", "4", "--word-bits", "4"]}
# hip_runtime.h defines the bounds by this attribute.
HEADER = """
#define __global__ __attribute__((global))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
typedef __SIZE_TYPE__ size_t;
struct Index { unsigned x; };
#define blockIdx (Index{__builtin_amdgcn_workgroup_id_x()})
#define threadIdx (Index{__builtin_amdgcn_workitem_id_x()})
#define blockDim (Index{__builtin_amdgcn_workgroup_size_x()})
"""


def write_texts(calpe, folder):
    for name, code in TEXTS.items():
        subprocess.run([calpe, "equations", *code, "--emit", "hip", "-o",
                        str(folder / f"{name}.hip")], check=True, timeout=200)
    return sorted(folder.glob("*.hip"))


def scratch_bytes(source, architecture, folder):
    assembly = folder / "kernel.s"
    subprocess.run(["clang-19", "-x", "hip", "--cuda-device-only",
                    f"--offload-arch={architecture}", "-nogpuinc", "-nogpulib", f"-I{folder}",
                    "-O3", "-S", str(source), "-o", str(assembly)], check=True, timeout=500)
    counts = [int(n) for n in re.findall(r"; ScratchSize: (\d+)", assembly.read_text())]
    if len(counts) != 2:
        sys.exit(f"hip_budgets: {source.name} has {len(counts)} kernels; expected 2")
    return max(counts)


def main():
    calpe = sys.argv[1]
    if not shutil.which("clang-19"):
        print("skipped: clang-19 is not installed: .ci/install")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        (folder / "hip").mkdir()
        (folder / "hip/hip_runtime.h").write_text(HEADER)
        texts = write_texts(calpe, folder)
        for source in texts:
            for architecture in ARCHITECTURES:
                scratch = scratch_bytes(source, architecture, folder)
                print(f"{source.stem:16} {architecture:8} {scratch:5} bytes of scratch memory")
                failed += scratch != 0
        # Without launch bounds the compiler must keep values in memory, or nothing was tested.
        planted = folder / "planted.hip"
        planted.write_text(texts[0].read_text().replace("__launch_bounds__(256)", ""))
        if scratch_bytes(planted, "gfx90a", folder) == 0:
            print("no scratch memory without launch bounds: the check does not see it")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
