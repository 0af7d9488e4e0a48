# SPDX-License-Identifier: Apache-2.0
"""Reads symbols of shared libraries with binutils, for the Ceph tests."""
import re
import subprocess


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def undefined(path):
    lines = output("nm", "--dynamic", "--undefined-only", "--without-symbol-versions",
                   path).splitlines()
    return {fields[1] for fields in map(str.split, lines) if fields[0] == "U"}


def defined(path):
    lines = output("nm", "--dynamic", "--defined-only", "--without-symbol-versions",
                   path).splitlines()
    return {fields[2] for fields in map(str.split, lines) if len(fields) == 3}


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", path))


def demangle(names):
    return subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout.splitlines()


def symbol_range(path, symbol):
    """Address and bytes of a symbol."""
    for line in output("readelf", "--syms", "--wide", path).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[7].split("@")[0] == symbol and fields[6] != "UND":
            return int(fields[1], 16), int(fields[2], 0)
    raise LookupError(f"{path} has no symbol {symbol}")


def function_names(path):
    """All names by address; a function may have several."""
    names = {}
    for table in (["nm"], ["nm", "--dynamic"]):
        result = subprocess.run([*table, path], capture_output=True, text=True, check=False)
        for line in result.stdout.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "TtWwiu":
                names.setdefault(int(fields[0], 16), []).append(fields[2].split("@")[0])
    return names


def vtable(path, symbol):
    """The possible mangled names of each slot after offset and type information."""
    start, size = symbol_range(path, symbol)
    names = function_names(path)
    slots = {}
    for line in output("readelf", "--relocs", "--wide", path).splitlines():
        fields = line.split()
        if not fields or not re.fullmatch(r"[0-9a-f]{12,16}", fields[0]):
            continue
        address = int(fields[0], 16)
        if not start <= address < start + size:
            continue
        if fields[2] == "R_X86_64_RELATIVE":
            found = names.get(int(fields[3], 16), [])
        else:
            found = [fields[4].split("@")[0]]
        slots[(address - start) // 8] = found
    return [slots.get(slot, []) for slot in range(2, size // 8)]
