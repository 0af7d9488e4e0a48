#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the glibc that a library needs: glibc_test.py LIBRARY [--core]

The sources need no function that is newer than glibc 2.31. A library that is built on a newer
system still needs that system, because its linker takes the newest version of each name. So names
are checked, not only versions: a newer version is accepted only for names that 2.31 has as well,
and for those that the compiler's library adds. --core accepts no other name.
"""
import re
import subprocess
import sys

LIMIT = (2, 31)
# glibc 2.31 has these with an older version. 2.33 made functions of the stat macros; 2.34 moved
# libpthread and libdl into libc.
OLDER = re.compile(r"pthread_\w+|sem_\w+|dl(open|sym|close|error|addr)|[fl]?stat|fstatat|mknod")
# libstdc++ 12 asks whether the process has more than one thread.
COMPILER = {"__libc_single_threaded"}
# CMake looks for it; base/subprocess.cpp works without it.
OPTIONAL = {"posix_spawn_file_actions_addclosefrom_np"}


def needed(library):
    """(version, name) of each symbol that comes from glibc."""
    listing = subprocess.run(["objdump", "-T", library], capture_output=True, text=True,
                             check=True).stdout
    found = re.findall(r"\*UND\*.*?\(?GLIBC_([0-9.]+)\)?\s+(\w+)$", listing, re.MULTILINE)
    return sorted((tuple(map(int, version.split("."))), name) for version, name in found)


def refused(symbols, is_core):
    accepted = COMPILER if is_core else COMPILER | OPTIONAL
    return [(version, name) for version, name in symbols
            if version > LIMIT and name not in accepted and not OLDER.fullmatch(name)]


def main():
    library, is_core = sys.argv[1], "--core" in sys.argv
    symbols = needed(library)
    bad = refused(symbols, is_core)
    for version, name in bad:
        print(f"{name} needs glibc {'.'.join(map(str, version))}; expected at most 2.31")
    # The check must notice a new function.
    noticed = refused([*symbols, ((2, 36), "arc4random")], is_core) != bad
    highest = ".".join(map(str, symbols[-1][0])) if symbols else "none"
    newer = [name for version, name in symbols if version > LIMIT]
    print(f"glibc: {len(symbols)} names, needs {highest}; newer than 2.31: "
          f"{' '.join(newer) or 'none'}")
    return 0 if symbols and noticed and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
