#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups files of a target that may be compiled as one, for CalpeUnity.cmake.

usage: unity_groups.py SIZE_MAX FILE...   prints one group per line, files separated by ';'

A name that is private to a file (in an unnamed namespace) does not occur in any other file of its
group, so the meaning is the same as with separate compilation.
"""
import pathlib
import re
import sys

UNNAMED = re.compile(r"^(?:inline )?namespace \{$(.*?)^\}  // namespace$", re.S | re.M)
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\((\w+),\s*(\w+)")
TYPE = re.compile(r"^(?:class|struct|union|enum class|enum) (\w+)")
ALIAS = re.compile(r"^(?:using|namespace) (?:\w+::)*(\w+)")
NAME = re.compile(r"(\w+)\s*[(=;{\[]")
MACRO = re.compile(r"^#define (\w+)", re.M)


def names_of(text):
    """Maps each private name to the line that declares it."""
    names = {name: f"#define {name}" for name in MACRO.findall(text)}
    for body in UNNAMED.findall(text):
        for line in body.splitlines():
            if not re.match(r"\w", line) or line.startswith("template"):
                continue
            if found := TEST.match(line):
                names[".".join(found.groups())] = ""
            elif found := TYPE.match(line):
                names[found.group(1)] = ""
            elif found := ALIAS.match(line):
                names[found.group(1)] = line  # an identical declaration may repeat
            elif found := NAME.search(line):
                names[found.group(1)] = ""
    return names


def is_alone(text):
    """True if a macro precedes the first header, which may change the header."""
    first = re.search(r"^#include", text, re.M)
    return bool(first) and "#define" in text[:first.start()]


class Source:
    def __init__(self, path):
        self.path = path
        text = pathlib.Path(path).read_text(encoding="utf-8")
        self.names = names_of(text)
        self.is_alone = is_alone(text)
        self.words = set(re.findall(r"\w+", re.sub(r"//.*", "", text)))

    def fits(self, other):
        return not any(self.is_hidden(name, other) for name in self.names if name in other.words)

    def is_hidden(self, name, other):
        said = self.names[name]
        return not said or other.names.get(name) != said


def main():
    size_max = int(sys.argv[1])
    groups = []
    for source in map(Source, sys.argv[2:]):
        place = next((group for group in groups
                      if len(group) < size_max and not source.is_alone and not group[0].is_alone
                      and all(source.fits(other) and other.fits(source) for other in group)), None)
        if place is None:
            groups.append([source])
        else:
            place.append(source)
    for group in groups:
        print(";".join(source.path for source in group))


main()
