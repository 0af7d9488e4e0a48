#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests CPU detection on emulated CPUs: cpus_test.py CALPE VECTORS

Each emulated CPU, starting with one that has only SSE2, must choose the right path, produce the
right bytes and never execute an illegal instruction. Every path of the real CPU is also forced in
turn. CALPE is the command, VECTORS the golden vector program. With CALPE_NIGHTLY there are more
CPUs, and they run all vectors. Exit code 77: not x86-64, or no qemu.
"""
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile

QEMU = "qemu-x86_64"
SSE2 = "core2duo,-ssse3,-pni"
# Expected paths. qemu's TCG does not emulate AVX-512.
QUICK = {SSE2: "scalar", "Haswell": "avx2"}
NIGHTLY = QUICK | {"qemu64": "scalar", "core2duo": "ssse3", "Nehalem": "ssse3",
                   "SandyBridge": "ssse3", "Haswell,-xsave": "ssse3", "EPYC": "avx2",
                   "max": "avx2"}
# Executes an SSSE3 instruction without checking the CPU.
CANARY = """
int main(void) { __asm__ volatile("pshufb %xmm0, %xmm0"); return 0; }
"""
checks = 0


def run(command, **changes):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("CALPE_CPU", "CALPE_BACKEND")}
    environment |= {"CALPE_CACHE_DIR": ""} | changes
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True,
                          text=True, timeout=1800, check=False)


def expect(good, what, done=None):
    global checks
    checks += 1
    if good:
        return
    print(f"cpus: {what}")
    if done is not None:
        print(f"status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    sys.exit(1)


def check_emulator(scratch):
    """Checks that the emulator rejects instructions that the CPU does not have."""
    source = scratch / "canary.c"
    source.write_text(CANARY)
    canary = scratch / "canary"
    subprocess.run([os.environ.get("CC", "cc"), "-o", canary, source], check=True)
    done = run([QEMU, "-cpu", "core2duo", canary])
    expect(done.returncode == 0, "SSSE3 must run on a CPU that has it", done)
    done = run([QEMU, "-cpu", SSE2, canary])
    expect(done.returncode == -signal.SIGILL, "SSSE3 must be illegal on a CPU without it", done)


def check_selftest(command, path, what):
    done = run([*command, "selftest", "--backend", "cpu", "--no-rates", "--json"])
    expect(done.returncode == 0, f"{what}: selftest", done)
    backend = json.loads(done.stdout)["backends"][0]
    expect(backend["description"] == f"uses cpu:{path}",
           f"{what}: {backend['description']}; expected cpu:{path}")


def check_refused(command, path, what):
    """A path that the CPU lacks is refused, not tried."""
    done = run([*command, "selftest", "--backend", "cpu", "--no-rates"], CALPE_CPU=path)
    expect(done.returncode == 4 and "this CPU has no " in done.stderr, f"{what}: {path}", done)


def check_vectors(command, backends, what, **changes):
    names = [name.replace(":", "_").replace("-", "_") for name in backends]
    done = run([*command, "--gtest_filter=" + ":".join(f"*/{name}" for name in names)], **changes)
    expect(done.returncode == 0, f"{what}: vectors", done)
    for name in names:
        for test in ("ParityIsWrittenAndLossesAreRebuilt", "TagsAreEqual"):
            expect(f"OK ] Each/VectorsOnBackend.{test}/{name} (" in done.stdout,
                   f"{what}: {test} did not run on {name}", done)


def backends_of(command):
    done = run([*command, "devices", "--no-rates", "--json"])
    expect(done.returncode == 0, "devices", done)
    return [row["name"] for row in json.loads(done.stdout) if row["available"]]


def check_forced(calpe, vectors):
    """Forces every path of this CPU through the environment."""
    paths = [name[4:] for name in backends_of([calpe]) if name.startswith("cpu:")]
    for path in paths:
        done = run([calpe, "selftest", "--backend", "cpu", "--no-rates"], CALPE_CPU=path)
        expect(done.returncode == 0, f"forced {path}: selftest", done)
        check_vectors([vectors], ["cpu"], f"forced {path}", CALPE_CPU=path)
    return paths


def main():
    calpe, vectors = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if platform.machine() != "x86_64" or shutil.which(QEMU) is None:
        print(f"cpus: skipped, not on x86-64 or no {QEMU}")
        return 77
    is_nightly = bool(os.environ.get("CALPE_NIGHTLY"))
    cpus = NIGHTLY if is_nightly else QUICK
    with tempfile.TemporaryDirectory() as scratch:
        check_emulator(pathlib.Path(scratch))
    for cpu, path in cpus.items():
        emulated = [QEMU, "-cpu", cpu]
        check_selftest([*emulated, calpe], path, cpu)
        check_refused([*emulated, calpe], "avx512-gfni", cpu)
        if is_nightly:
            check_vectors([*emulated, vectors], ["cpu"], cpu)
    paths = check_forced(calpe, vectors)
    print(f"cpus: {len(cpus)} emulated CPUs, {len(paths)} forced paths ({', '.join(paths)}), "
          f"{checks} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
