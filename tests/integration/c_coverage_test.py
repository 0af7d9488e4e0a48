#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tests/c calls every function of the C headers: c_coverage_test.py [repository]

A function that is never called from C may not even compile as C. A function that returns a status
must be CALPE_CHECKED, so that compilers warn if it is ignored.
"""
import pathlib
import re
import sys

from symbols_test import c_functions, read_header


def calls(text):
    """Names before a parenthesis, in code."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\])*\"", "", text, flags=re.DOTALL)
    return set(re.findall(r"\b((?:calpe|gib)_\w+)\s*\(", code))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    declared = set()
    for path in sorted((root / "include/calpe").glob("*.h")):
        declared |= c_functions(read_header(path))
    called = set()
    for path in sorted((root / "tests/c").glob("*.c")):
        called |= calls(path.read_text())
    for name in sorted(declared - called):
        print(f"no test in tests/c calls {name}")
    unchecked = [name for header in ("calpe.h", "streams.h")
                 for name in re.findall(r"CALPE_API calpe_status (\w+)",
                                        read_header(root / "include/calpe" / header))]
    for name in unchecked:
        print(f"{name} returns a status and is not CALPE_CHECKED")
    print(f"c coverage: {len(declared & called)} of {len(declared)} functions are called from C")
    return 1 if declared - called or unchecked or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
