#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libcalpe.so exports exactly the functions of its public headers: symbols_test.py LIBRARY INCLUDE

A missing export breaks callers; an extra one becomes an unintended promise. Weak copies of standard
library templates could even be replaced by those of the program.
"""
import pathlib
import re
import subprocess
import sys

# The classes of the C++ API; their `Impl` is internal.
CLASSES = ["Codec", "Plan", "PreparedPlan", "QueuePlan", "Pending", "StreamEncoder",
           "StreamDecoder", "GaloisField", "DeviceMemory", "MappedMemory", "RegisteredMemory"]


def exported(library):
    """Demangled names, without the version nodes (type A)."""
    lines = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--demangle", "--without-symbol-versions", library],
        capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split(" ", 2)[2] for line in lines if line.split(" ", 2)[1] != "A"]


def read_header(path):
    """The text without comments and preprocessor lines."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"^\s*#.*(\\\n.*)*", "", text, flags=re.MULTILINE)


def c_functions(text):
    return set(re.findall(r"\bCALPE_API\b[^;()]*?\b(\w+)\s*\(", text))


def declarations(text):
    """(head, body) of each top-level declaration in `text`; body may be None."""
    start, parens, braces, body_start = 0, 0, 0, 0
    for i, letter in enumerate(text):
        if letter in "()":
            parens += 1 if letter == "(" else -1
        elif parens:
            continue  # `= {}` of a parameter is not a body
        elif letter == "{":
            braces += 1
            if braces == 1:
                body_start = i
        elif letter == "}":
            braces -= 1
            if braces == 0:
                yield text[start:body_start].strip(), text[body_start + 1:i]
                start = i + 1
        elif letter == ";" and braces == 0:
            yield text[start:i].strip(), None
            start = i + 1


def cpp_functions(text, scope=""):
    """calpe::name and calpe::Class::name that a header declares without defining."""
    names = set()
    for head, body in declarations(text):
        inner = re.search(r"^(?:namespace (calpe)|class (\w+))$", head)
        if body is not None:
            name = inner and (inner[1] or inner[2])
            if name == "calpe" or name in CLASSES:
                names |= cpp_functions(body, f"{scope}{name}::")
        elif re.match(r"(using|friend|template)\b", head) or "private:" in head:
            continue
        elif head.endswith("= default"):  # defined by the compiler of each program
            continue
        elif function := re.search(r"(operator\W+?|~?\w+)\s*\(", head):
            names.add(scope + function[1])
    return names


def check(symbols, declared):
    seen = {re.sub(r"\(.*", "", symbol): symbol for symbol in symbols}
    for name in sorted(set(seen) - declared):
        yield f"exported, but in no public header: {seen[name]}"
    for name in sorted(declared - set(seen)):
        yield f"declared in a public header, but not exported: {name}"


def main():
    library, include = sys.argv[1], pathlib.Path(sys.argv[2]) / "calpe"
    c_names = set()
    for path in sorted(include.glob("*.h")):
        c_names |= c_functions(read_header(path))
    cpp_names = set()
    for path in sorted(include.glob("*.hpp")):
        cpp_names |= cpp_functions(read_header(path))
    symbols = exported(library)
    messages = list(check(symbols, c_names | cpp_names))
    print("\n".join(messages))
    print(f"symbols: {len(symbols)} exported, {len(c_names)} C and {len(cpp_names)} C++ functions")
    return 1 if messages or not c_names or not cpp_names else 0


if __name__ == "__main__":
    sys.exit(main())
