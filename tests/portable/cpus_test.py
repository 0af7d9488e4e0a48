#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No CPU is asked for what it lacks: cpus_test.py CALPE VECTORS

Emulated CPUs, from one that has SSE2 alone, choose the path that they should, give the right bytes
and never meet an illegal instruction; every path of the CPU at hand is forced in turn. CALPE is the
command, VECTORS the program of the golden vectors. With CALPE_NIGHTLY set the emulated CPUs run
all of the vectors and both are run on more CPUs. Exit status 77: not on x86-64, or no qemu.
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
# What qemu's TCG has of each: no AVX-512.
QUICK = {SSE2: "scalar", "Haswell": "avx2"}
NIGHTLY = QUICK | {"qemu64": "scalar", "core2duo": "ssse3", "Nehalem": "ssse3",
                   "SandyBridge": "ssse3", "Haswell,-xsave": "ssse3", "EPYC": "avx2",
                   "max": "avx2"}
# Runs an SSSE3 instruction, whatever the CPU says.
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
    """An emulator that has every instruction whatever the CPU says would prove nothing."""
    source = scratch / "canary.c"
    source.write_text(CANARY)
    canary = scratch / "canary"
    subprocess.run([os.environ.get("CC", "cc"), "-o", canary, source], check=True)
    done = run([QEMU, "-cpu", "core2duo", canary])
    expect(done.returncode == 0, "SSSE3 runs where it is", done)
    done = run([QEMU, "-cpu", SSE2, canary])
    expect(done.returncode == -signal.SIGILL, "SSSE3 is illegal where it is not", done)


def check_selftest(command, path, what):
    done = run([*command, "selftest", "--backend", "cpu", "--no-rates", "--json"])
    expect(done.returncode == 0, f"{what}: selftest", done)
    backend = json.loads(done.stdout)["backends"][0]
    expect(backend["description"] == f"uses cpu:{path}",
           f"{what}: {backend['description']}, expected cpu:{path}")


def check_refused(command, path, what):
    """A path that the CPU lacks is refused by name, not tried."""
    done = run([*command, "selftest", "--backend", "cpu", "--no-rates"], CALPE_CPU=path)
    expect(done.returncode == 2 and "this CPU has no " in done.stderr, f"{what}: {path}", done)


def check_vectors(command, backends, what, **changes):
    names = ":".join(f"*/{name.replace(':', '_').replace('-', '_')}" for name in backends)
    done = run([*command, f"--gtest_filter={names}"], **changes)
    expect(done.returncode == 0, f"{what}: vectors", done)
    expect(f"[  PASSED  ] {len(backends)} test" in done.stdout, f"{what}: not all ran", done)


def backends_of(command):
    done = run([*command, "devices", "--no-rates", "--json"])
    expect(done.returncode == 0, "devices", done)
    return [row["name"] for row in json.loads(done.stdout) if row["available"]]


def check_forced(calpe, vectors):
    """Every path of this CPU, by the environment."""
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
