#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that soname, symbol versions and package metadata match the versions in the sources.

Usage: library_version_test.py <library> <repository> <project version>
A C function belongs to CALPE_<CALPE_ABI_VERSION>, a C++ function to CALPE_CXX_<major.minor>
(docs/adr/0020). packaging/debian lists each C function; otherwise a program that uses a new one
could be installed with an old library.
"""
import pathlib
import re
import subprocess
import sys

library, repository, version = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
debian = repository / "packaging/debian"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported():
    """(mangled name, version node) of each symbol; the nodes themselves have type A."""
    for line in output("nm", "--dynamic", "--defined-only", library).splitlines():
        _, kind, name = line.split()
        if kind != "A":
            symbol, _, node = name.partition("@@")
            yield symbol, node


def expect(what, expected, found):
    if expected != found:
        yield f"{what}: expected {expected}, found {found or 'none'}"


def first(pattern, path):
    found = re.search(pattern, path.read_text(), re.MULTILINE)
    return found[1] if found else None


def check_library(symbols, abi, minor):
    soname = re.search(r"SONAME +(\S+)", output("objdump", "-p", library))
    yield from expect("soname", f"libcalpe.so.{abi}", soname and soname[1])
    for symbol, node in symbols:
        cpp = symbol.startswith("_Z")
        yield from expect(symbol, f"CALPE_CXX_{minor}" if cpp else f"CALPE_{abi}", node)


def check_debian(symbols, abi, minor):
    text = (debian / f"libcalpe{abi}.symbols").read_text()
    listed = set(re.findall(rf"^ (\w+)@CALPE_{abi} ", text, re.MULTILINE))
    functions = {symbol for symbol, _ in symbols if not symbol.startswith("_Z")}
    listed.discard(f"CALPE_{abi}")  # dpkg-gensymbols also requires the node itself
    for name in sorted(functions - listed):
        yield f"libcalpe{abi}.symbols: no line ` {name}@CALPE_{abi} {version}`"
    for name in sorted(listed - functions):
        yield f"libcalpe{abi}.symbols: {name} is not exported"
    # The virtual package for the C++ functions, in the library's package and its users.
    wanted = f"calpe-cxx-abi-{minor}"
    yield from expect("libcalpe.symbols", wanted, first(r"^\| (calpe-cxx-abi-\S+)$",
                                                        debian / f"libcalpe{abi}.symbols"))
    yield from expect("debian/control", wanted, first(r"^Provides: (calpe-cxx-abi-\S+)$",
                                                      debian / "control"))
    yield from expect("debian/changelog", version, first(r"^calpe \(([^-)]+)",
                                                         debian / "changelog"))


def main():
    abi = first(r"^#define CALPE_ABI_VERSION (\d+)$", repository / "include/calpe/calpe.h")
    minor = ".".join(version.split(".")[:2])
    symbols = list(exported())
    messages = [*check_library(symbols, abi, minor), *check_debian(symbols, abi, minor)]
    print("\n".join(messages))
    print(f"library_version: {len(symbols)} symbols, {len(messages)} wrong")
    return 1 if messages or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
