#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the speed table of docs/performance.md and README.md from the run in bench/results.

usage: readme_figures.py [--check]   --check changes nothing and exits with 1 if a page differs
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUN = ROOT / "bench" / "results" / "full.json"
# README.md may do without the table.
PAGES = {ROOT / "docs" / "performance.md": True, ROOT / "README.md": False}
BEGIN = "<!-- figures of bench/results, by bench/readme_figures.py -->"
END = "<!-- end of figures -->"
SHARD_BYTES = 65536
TITLES = {"isal": "ISA-L", "jerasure": "Jerasure"}


def find_row(rows, operation, shape):
    for row in rows:
        cell = (row["operation"], f"{row['data_shards']}+{row['parity_shards']}",
                row["shard_bytes"])
        if cell == (operation, shape, SHARD_BYTES):
            return row
    return None


def rate(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def table(run):
    peers = run["peers"]
    names = [f"{TITLES.get(peer['name'], peer['name'])} {peer['version']}".strip()
             for peer in peers]
    shapes = []
    for row in run["rows"]:
        shape = f"{row['data_shards']}+{row['parity_shards']}"
        if row["operation"] != "plan" and shape not in shapes:
            shapes.append(shape)
    head = ["shards of 64 KiB", "encode", *[f"x {name}" for name in names], "of memory limit",
            "decode", *[f"x {name}" for name in names]]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for shape in shapes:
        encode = find_row(run["rows"], "encode", shape)
        decode = find_row(run["rows"], "decode", shape)
        if encode is None or decode is None:
            continue
        cells = [shape, rate(encode["gb_per_s"])]
        cells += [ratio(encode, peer) for peer in peers]
        cells += [f"{100 * encode['fraction_of_roof']:.0f} %", rate(decode["gb_per_s"])]
        cells += [ratio(decode, peer) for peer in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def ratio(row, peer):
    value = row.get(f"ratio_{peer['name']}")
    return "-" if value is None else f"{value:.1f}"


def block(run):
    machine = run["machine"]
    where = (f"GB/s of data (10^9 bytes/s) on one thread of an {machine['cpu']}\n"
             f"({machine['path']}). The data is in a cache, decode rebuilds m lost shards, and "
             f"each rate is\nthat of the best round. \"x ISA-L\" is the rate relative to that "
             f"library. Load average at the\nstart: {machine['load_average']:.1f}.")
    return "\n".join([BEGIN, *table(run), "", where, END])


def with_figures(path, run, is_required):
    """Returns the page with the table of this run."""
    text = path.read_text(encoding="utf-8")
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        if is_required:
            sys.exit(f"readme_figures: {path.name} has no lines {BEGIN} and {END}")
        return text
    return text[:start] + block(run) + text[end + len(END):]


def main():
    run = json.loads(RUN.read_text(encoding="utf-8"))
    for path, is_required in PAGES.items():
        changed = with_figures(path, run, is_required)
        if "--check" not in sys.argv[1:]:
            path.write_text(changed, encoding="utf-8")
        elif changed != path.read_text(encoding="utf-8"):
            sys.exit(f"readme_figures: {path.name} differs from bench/results; run "
                     "bench/readme_figures.py")


if __name__ == "__main__":
    main()
