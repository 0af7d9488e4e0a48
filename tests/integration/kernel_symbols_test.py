#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects compiled for special CPUs export exactly one name: kernel_symbols_test.py <objects>...

A kernels_<isa> object exports its table, checksum_<isa> its function.

The linker keeps one copy of an inline function or template for the whole program. If it kept a copy
compiled with -mavx512f, CPUs without AVX-512 would crash in unrelated code; tests on a newer CPU
would not notice.
"""
import pathlib
import re
import subprocess
import sys


def visible_symbols(path):
    """Symbols that the object exports: weak (W, V, u) and global (T, R, D, B)."""
    lines = subprocess.run(["nm", "--defined-only", "--extern-only", "--demangle", path],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split(" ", 2)[2] for line in lines]


def wanted_symbol(path):
    name = re.sub(r"\.cpp\.o$", "", pathlib.Path(path).name)
    if name.startswith("checksum_"):
        return f"calpe::store::{name}(std::byte const*, unsigned long)"
    return f"calpe::backend::cpu::{name}"


def check(path):
    table = wanted_symbol(path)
    symbols = visible_symbols(path)
    for symbol in symbols:
        if symbol != table:
            yield f"{pathlib.Path(path).name}: exports {symbol}"
    if table not in symbols:
        yield f"{pathlib.Path(path).name}: does not define {table}"


def main():
    kernels = [path for path in sys.argv[1:]
               if re.search(r"/(kernels_\w+|checksum_avx2)\.cpp\.o$", path)]
    messages = [message for path in kernels for message in check(path)]
    print("\n".join(messages))
    print(f"kernel symbols: {len(kernels)} objects")
    return 1 if messages or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
