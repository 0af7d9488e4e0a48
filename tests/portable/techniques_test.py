#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests builds without each kernel technique, and without all: techniques_test.py DIR

Builds the command, the golden vectors and a C program in DIR with CALPE_WITHOUT for every technique
in turn. The command must contain no symbol of an omitted technique, list it as left out and refuse
it by name. The vectors, the selftest and the C program must pass with the remaining techniques.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["calpe_command", "calpe_golden_vectors", "calpe_c_api", "calpe_c_api_wide"]
# Symbols of techniques that are not CPU paths. A path is found by its table.
SYMBOLS = {"jit": r"calpe::backend::jit::JitKernel::|asmjit::",
           "additive-fft": r"calpe::backend::cpu::(transform_(wide|narrow|chunk|finish)|"
                           r"wide_(blocks_back|blocks_forth|groups))<"}
checks = 0


def expect(good, what, detail=""):
    global checks
    checks += 1
    if not good:
        print(f"techniques: {what}\n{str(detail)[-4000:]}")
        sys.exit(1)


def run(*command, **changes):
    environment = os.environ | {"CALPE_CACHE_DIR": ""} | changes
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True,
                          text=True, cwd=ROOT, timeout=3600, check=False)
    done.all = done.stdout + done.stderr
    return done


def must(*command):
    done = run(*command)
    expect(done.returncode == 0, f"{' '.join(str(part) for part in command)} failed", done.all)
    return done.stdout


def configure(folder, without):
    return run("cmake", "--preset", "dev", "-B", folder, "-DCALPE_UNITY=ON",
               f"-DCALPE_WITHOUT={without}")


def known_techniques():
    text = (ROOT / "cmake/CalpeTechniques.cmake").read_text()
    return re.search(r"set\(calpe_techniques ([^)]*)\)", text)[1].split()


def has_symbols(command, technique):
    path = rf"calpe::backend::cpu::kernels_{technique.replace('-', '_')}$"
    symbols = must("nm", "--demangle", command)
    return re.search(SYMBOLS.get(technique, path), symbols, re.MULTILINE) is not None


def techniques_of(command):
    done = run(command, "selftest", "--backend", "cpu", "--no-rates", "--json")
    expect(done.returncode == 0, "selftest", done.all)
    return {row["name"]: row["built"] for row in json.loads(done.stdout)["techniques"]}


def check_refused(command, name):
    if name == "additive-fft":
        return  # not the name of a backend
    backend = "jit" if name == "jit" else f"cpu:{name}"
    done = run(command, "selftest", "--backend", backend, "--no-rates")
    expect(done.returncode == 4 and "left out of this build" in done.stderr, backend, done.all)
    if name != "jit":
        done = run(command, "selftest", "--backend", "cpu", "--no-rates", CALPE_CPU=name)
        expect(done.returncode == 4 and "left out of this build" in done.stderr, name, done.all)


def check_large(command, is_coded):
    """A code with more coefficients than a matrix may have is refused without transforms."""
    done = run(command, "bench", "--shape", "10000+2000", "--bytes", "128", "--seconds", "0.1",
               "--wide", "--quiet")
    if is_coded:
        expect(done.returncode == 0, "10000+2000 with additive-fft", done.all)
        return
    expect(done.returncode == 4 and "writing 2000 shards from 10000 takes 20000000 coefficients; "
           "expected at most 1048576, as this build leaves out additive-fft" in done.stderr,
           "10000+2000 without additive-fft", done.all)


def check_build(folder, without):
    done = configure(folder, ",".join(without))
    expect(done.returncode == 0, f"configuring without {without}", done.all)
    must("cmake", "--build", folder, "--target", *TARGETS)
    command = folder / "tools/calpe"
    built = techniques_of(command)
    for name, is_built in built.items():
        expect(is_built == (name not in without), f"{name} is listed wrongly without {without}")
        expect(has_symbols(command, name) == is_built, f"symbols of {name} without {without}")
        if not is_built:
            check_refused(command, name)
    vectors = run(folder / "tests/calpe_golden_vectors", "--gtest_filter=*cpu*:*jit*")
    expect(vectors.returncode == 0, f"vectors without {without}", vectors.all)
    tests = int(re.search(r"\[  PASSED  \] (\d+) test", vectors.stdout)[1])
    for program in "calpe_c_api", "calpe_c_api_wide":
        c_api = run(folder / "tests" / program)
        expect(c_api.returncode == 0, f"{program} without {without}", c_api.all)
    check_large(command, "additive-fft" not in without)
    print(f"without {', '.join(without) or 'nothing'}: vectors on {tests} backends", flush=True)
    return list(built)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    known = known_techniques()
    wrong = configure(folder, "avx2,avx9")
    expect(wrong.returncode != 0 and "avx9" in wrong.all, "an unknown name is refused", wrong.all)
    message = " ".join(wrong.all.split())
    expect(", ".join(known) in message, "the refusal lists the known names", wrong.all)
    here = check_build(folder, [])
    expect(set(here) <= set(known), f"{here} are listed, known are {known}")
    for name in here:
        check_build(folder, [name])
    check_build(folder, known)
    print(f"techniques: {len(here)} left out one by one and all at once, {checks} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
