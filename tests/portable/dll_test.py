#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks libcalpe-1.dll: dll_test.py OBJDUMP LIBRARY INCLUDE

It exports the functions of calpe.h and gib.h, and needs no DLL that Windows does not have.
"""
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import symbols_test  # noqa: E402

SYSTEM = {"kernel32.dll", "msvcrt.dll", "ucrtbase.dll"}


def problems(listing, declared):
    """Yields one message per fault in the output of objdump -p."""
    needed = {name.lower() for name in re.findall(r"DLL Name: (\S+)", listing)}
    table = listing.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    exported = set(re.findall(r"\[ *\d+\] (?:\+base\[ *\d+\] +\S+ )?(\S+)$", table, re.MULTILINE))
    for name in sorted(needed - SYSTEM) or ([] if needed else ["none"]):
        yield f"the library needs {name}; expected only {', '.join(sorted(SYSTEM))}"
    for name in sorted(declared - exported):
        yield f"declared in a C header, but not exported: {name}"
    for name in sorted(exported - declared):
        # C++ functions, as on Linux
        if not name.startswith("_ZN"):
            yield f"exported, but in no C header: {name}"


def main():
    objdump, library, include = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    declared = set()
    for path in sorted((include / "calpe").glob("*.h")):
        declared |= symbols_test.c_functions(symbols_test.read_header(path))
    listing = subprocess.run([objdump, "-p", library], capture_output=True, text=True,
                             check=True).stdout
    messages = list(problems(listing, declared))
    # The check must notice a lost function and a DLL of the compiler.
    if (not list(problems(listing, declared | {"calpe_lost"})) or
            not list(problems(listing + "\tDLL Name: libstdc++-6.dll\n", declared))):
        messages.append("a lost function or another DLL is not noticed")
    print("\n".join(messages))
    print(f"dll: {len(declared)} C functions")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
