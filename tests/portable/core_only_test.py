#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the library built with CALPE_CORE_ONLY: core_only_test.py DIR

Builds the release library and its tests in DIR. The library must not need functions that load
libraries or start programs, or a glibc newer than 2.31. It must export the same functions as the
full library and list the omitted backends. A C program encodes and decodes with it, and the
remaining unit tests pass.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Match whole names: pthread_atfork is needed and starts nothing.
FORBIDDEN = re.compile(r"^(dl(m?open|v?sym)|posix_spawnp?|exec\w+|v?fork|system|popen)$")
CODE_MAX_BYTES = 3_950_000  # stripped; docs/packages.md has the size


def expect(good, what, detail=""):
    if not good:
        print(f"core_only: {what}\n{str(detail)[-4000:]}")
        sys.exit(1)


def must(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env=os.environ | {"CALPE_CACHE_DIR": ""}, cwd=ROOT, timeout=3600,
                          check=False)
    expect(done.returncode == 0, f"{' '.join(map(str, command))} failed",
           done.stdout + done.stderr)
    return done.stdout


def needed_functions(library):
    lines = must("nm", "-D", "--undefined-only", "--without-symbol-versions", library)
    return [line.split()[-1] for line in lines.splitlines()]


def check_library(folder, library):
    needed = needed_functions(library)
    expect("memcpy" in needed, "nm lists no memcpy", needed)
    found = [name for name in needed if FORBIDDEN.match(name)]
    expect(not found, "the library needs functions that load libraries or start programs", found)
    must(sys.executable, "-B", "tests/integration/symbols_test.py", library, "include")
    print(must(sys.executable, "-B", "tests/integration/glibc_test.py", library, "--core").strip())
    stripped = folder / "libcalpe-stripped.so"
    must("strip", "-o", stripped, library)
    size = stripped.stat().st_size
    expect(size <= CODE_MAX_BYTES, f"library size is {size}; expected at most {CODE_MAX_BYTES}")
    return size


def check_c_program(folder):
    """Encodes and rebuilds shards through calpe.h, then lists the backends."""
    said = must(folder / "examples/calpe_example_quickstart_c")
    expect(said == "rebuilt 2 of 2 shards\n", "the C program", said)
    source = folder / "backends.c"
    source.write_text('#include <calpe/calpe.h>\n#include <stdio.h>\nint main(void) {\n'
                      '  calpe_backend_info info = {sizeof info, "", "", "", 0};\n'
                      '  for (size_t i = 0; calpe_backend_at(i, &info); ++i)\n'
                      '    printf("%s %d %s\\n", info.name, info.available, info.reason);\n'
                      '  return 0;\n}\n', encoding="utf-8")
    program = folder / "backends"
    must("cc", source, "-o", program, f"-I{ROOT}/include", f"-L{folder}/src",
         f"-Wl,-rpath,{folder}/src", "-lcalpe")
    rows = [line.split(" ", 2) for line in must(program).splitlines()]
    available = {name.split(":")[0] for name, is_available, _ in rows if is_available == "1"}
    expect({"cpu", "reference"} <= available <= {"cpu", "jit", "reference"}, "backends", rows)
    for name in ("openmp", "opencl", "cuda", "vulkan"):
        expect([name, "0", "left out of this build (CALPE_CORE_ONLY)"] in rows, name, rows)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    must("cmake", "--preset", "release", "-B", folder, "-DCALPE_CORE_ONLY=ON", "-DCALPE_UNITY=ON",
         "-DCALPE_RUN_ONCE=ON")
    must("cmake", "--build", folder, "--target", "calpe", "calpe_example_quickstart_c",
         "tests_unit", "calpe_conformance_registry")
    size = check_library(folder, folder / "src/libcalpe.so")
    check_c_program(folder)
    summary = must("ctest", "--test-dir", folder, "--output-on-failure", "-L", "unit")
    tests = re.search(r"0 tests failed out of (\d+)", summary)
    expect(tests and int(tests[1]) > 10, "unit tests", summary)
    must(folder / "tests/calpe_conformance_registry")
    print(f"core_only: {size} bytes stripped, {tests[1]} test programs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
