#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the C and C++ calls of docs/coming-from.md: coming_from_test.py REPOSITORY CC CXX

tests/python/doctests_test.py runs the Python calls.
"""
import pathlib
import subprocess
import sys

import snippets

root, compilers = pathlib.Path(sys.argv[1]), {"C": sys.argv[2], "C++": sys.argv[3]}
KINDS = {"C": ("c", "c", "-std=c99"), "C++": ("cpp", "c++", "-std=c++20")}


def compiles(text, language):
    kind, name, standard = KINDS[language]
    calls = snippets.calls(text, language)
    lines = [snippets.setup(text, kind)]
    for number, call in calls:
        lines += [f"void line_{number}(void);", f'#line {number} "docs/coming-from.md"',
                  f"void line_{number}(void) {{ (void)({call}); }}"]
    command = [compilers[language], "-x", name, standard, "-Wall", "-Wextra", "-Wpedantic",
               "-Werror", "-fsyntax-only", f"-I{root / 'include'}", "-"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", text=True, check=False)
    print(f"{len(calls)} calls in {language}")
    return done.returncode == 0 and len(calls) >= 8


if __name__ == "__main__":
    page = (root / "docs/coming-from.md").read_text()
    sys.exit(0 if all([compiles(page, language) for language in KINDS]) else 1)
