#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Structures that may grow still begin as they did: grown.py <names' regexp> <baseline> <now>

abidiff 2.2 is told not to mind fields at the end of these (allowed.abignore), and then minds no
other change in them either. So their fields are compared here: name, place and type. Types are
compared by what they are: abidw changes their ids when two have the same hash.
"""
import re
import sys
import xml.etree.ElementTree


def type_text(nodes, identity):
    """What the type is: its name, or its kind, attributes and parts."""
    node = nodes[identity]
    if node.get("name"):
        return f"{node.tag} {node.get('name')} {node.get('size-in-bits', '')}".strip()
    own = {name: value for name, value in node.attrib.items() if name not in ("id", "type-id")}
    parts = [type_text(nodes, part.get("type-id")) if part.get("type-id") else str(part.attrib)
             for part in node.iter() if part is not node or part.get("type-id")]
    return f"{node.tag} {own} of ({', '.join(parts)})"


def structures(path, names):
    """name -> [(field, bits before it, type)]"""
    found = {}
    root = xml.etree.ElementTree.parse(path).getroot()
    nodes = {node.get("id"): node for node in root.iter() if node.get("id")}
    for node in root.iter("class-decl"):
        if re.search(names, node.get("name")) and not node.get("is-declaration-only"):
            found[node.get("name")] = [
                (member[0].get("name"), member.get("layout-offset-in-bits"),
                 type_text(nodes, member[0].get("type-id"))) for member in node.iter("data-member")]
    return found


def main():
    names, baseline, now = sys.argv[1], *(structures(path, sys.argv[1]) for path in sys.argv[2:4])
    messages = [] if baseline else [f"no structure {names} in {sys.argv[2]}"]
    for name, fields in baseline.items():
        for index, field in enumerate(fields):
            there = now.get(name, [])[index:index + 1]
            if there != [field]:
                messages.append(f"{name}: field {index} was (name, bit, type) {field}, "
                                f"is {there[0] if there else 'gone'}")
    print("\n".join(messages) or f"grown: {len(baseline)} structures begin as they did")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
