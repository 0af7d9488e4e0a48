#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checksec.py COMMANDS HARDENED FILE...: checks with readelf that the built files have the defences
of cmake/CalpeHardening.cmake. COMMANDS is compile_commands.json; HARDENED is ON if compiler flags
are required too.

A self-test first builds programs that each lack one defence, and expects the check to find it.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FORTIFIED = ("printf", "fprintf", "snprintf", "vsnprintf", "strcpy", "strncpy", "memcpy", "read")
COMPILER_FLAGS = ("-fstack-protector-strong", "-fstack-clash-protection", "-D_FORTIFY_SOURCE=3")


def readelf(option, path):
    return subprocess.run(["readelf", option, "-W", str(path)], check=True, capture_output=True,
                          text=True).stdout


def missing_in(path, is_hardened):
    """Lists the missing defences of a file."""
    segments, dynamic = readelf("-l", path), readelf("-d", path)
    missing = []
    if "GNU_RELRO" not in segments:
        missing.append("RELRO")
    if not re.search(r"\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", dynamic):
        missing.append("BIND_NOW")
    stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}(\S+)", segments)
    if not stack or "E" in stack[1]:
        missing.append("a stack that is not executable")
    if "(TEXTREL)" in dynamic:
        missing.append("code without relocations")
    if not re.search(r"Type:\s+DYN", readelf("-h", path)):
        missing.append("PIE")
    if is_hardened:
        symbols = readelf("--dyn-syms", path)
        if "__stack_chk_fail" not in symbols:
            missing.append("the stack protector")
        # Calls with buffers of unknown size are not replaced, but some calls have known sizes.
        has_checked = re.search(r"\b__\w+_chk\b", symbols.replace("__stack_chk_fail", ""))
        if not has_checked and re.search(rf"\b({'|'.join(FORTIFIED)})\b", symbols):
            missing.append("FORTIFY_SOURCE")
    return missing


def check_flags(commands):
    """Lists our sources that were compiled without a required flag."""
    wrong = []
    for entry in json.loads(pathlib.Path(commands).read_text()):
        source = entry["file"]
        if "/src/" not in source and "/plugins/" not in source and "/tools/" not in source:
            continue
        if "/backend/cpu/kernels_" in source or not source.endswith((".cpp", ".c", ".cxx")):
            continue
        flags = set(entry["command"].split())
        wrong += [f"{source}: {flag}" for flag in COMPILER_FLAGS if flag not in flags]
    return wrong


def self_test():
    """Checks that every missing defence is found."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return 0
    good = ["-O2", "-fPIE", "-pie", "-Wl,-z,relro,-z,now,-z,noexecstack", "-fstack-protector-all",
            "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
    cases = {(): [],
             ("-Wl,-z,norelro",): ["RELRO"],
             ("-Wl,-z,lazy",): ["BIND_NOW"],
             ("-Wl,-z,execstack",): ["a stack that is not executable"],
             ("-no-pie", "-fno-pie"): ["PIE"],
             ("-fno-stack-protector",): ["the stack protector"],
             ("-U_FORTIFY_SOURCE",): ["FORTIFY_SOURCE"]}
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "a.c")
        source.write_text('#include <stdio.h>\n#include <string.h>\nint main(int n, char** a)\n'
                          '{ char b[9]; strcpy(b, a[n - 1]); return printf(b) + (int)sizeof a; }\n')
        for more, expected in cases.items():
            program = pathlib.Path(folder, "a")
            subprocess.run([compiler, "-w", *good, *more, "-o", program, source], check=True)
            found = missing_in(program, True)
            assert found == expected, f"{more}: found {found}; expected {expected}"
    return len(cases)


def main():
    commands, is_hardened, files = sys.argv[1], sys.argv[2] == "ON", sys.argv[3:]
    cases = self_test()
    failed = 0
    for path in files:
        for what in missing_in(path, is_hardened):
            print(f"{path}: lacks {what}")
            failed += 1
    if is_hardened:
        wrong = check_flags(commands)
        print("\n".join(wrong[:20]))
        failed += len(wrong)
    print(f"checksec: {len(files)} files, {cases} self-test cases, compiler flags "
          f"{'checked' if is_hardened else 'not required'}, {failed} missing")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
