#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the speed tables of docs/performance.md, docs/compare.md and README.md from the runs in
bench/results.

usage: readme_figures.py [--check]   --check changes nothing and exits with 1 if a page differs
"""
import json
import pathlib
import sys

import tree_tools

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
END = "<!-- end of figures -->"
SHARD_BYTES = 65536
TITLES = {"isal": "ISA-L", "jerasure": "Jerasure"}


def find_row(rows, operation, shape, shard_bytes):
    for row in rows:
        cell = (row["operation"], f"{row['data_shards']}+{row['parity_shards']}",
                row["shard_bytes"])
        if cell == (operation, shape, shard_bytes):
            return row
    return None


def shapes_of(run):
    shapes = []
    for row in run["rows"]:
        shape = f"{row['data_shards']}+{row['parity_shards']}"
        if row["operation"] != "plan" and shape not in shapes:
            shapes.append(shape)
    return shapes


def rate(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def table(run):
    peers = run["peers"]
    names = [f"{TITLES.get(peer['name'], peer['name'])} {peer['version']}".strip()
             for peer in peers]
    head = ["shards of 64 KiB", "encode", *[f"x {name}" for name in names], "of memory limit",
            "decode", *[f"x {name}" for name in names]]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for shape in shapes_of(run):
        encode = find_row(run["rows"], "encode", shape, SHARD_BYTES)
        decode = find_row(run["rows"], "decode", shape, SHARD_BYTES)
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


def main_block(run):
    machine = run["machine"]
    where = (f"GB/s of data (10^9 bytes/s) on one thread of an {machine['cpu']}\n"
             f"({machine['path']}). The data is in a cache, decode rebuilds m lost shards, and "
             f"each rate is\nthat of the best round. \"x ISA-L\" is the rate relative to that "
             f"library. Load average at the\nstart: {machine['load_average']:.1f}.")
    return [*table(run), "", where]


def wide_rate(value):
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def best_peer(run, row):
    rates = {peer["name"]: row.get(f"gb_per_s_{peer['name']}") or 0 for peer in run["peers"]}
    name = max(rates, key=rates.get)
    return f"{wide_rate(rates[name])} {name}" if rates[name] else "-"


WIDE_COLUMNS = {"encode": "encode", "decode": "decode", "decode-fresh": "new losses",
                "decode1": "one lost"}


def wide_block(run):
    """Each operation with the best peer next to it."""
    shard_bytes = run["rows"][0]["shard_bytes"]
    head = [f"shards of {shard_bytes // 1024} KiB"]
    for title in WIDE_COLUMNS.values():
        # Peers have one rate for decode, with or without plans.
        head += [title] if title == "new losses" else [title, "best peer"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for shape in shapes_of(run):
        cells = [shape]
        for operation, title in WIDE_COLUMNS.items():
            row = find_row(run["rows"], operation, shape, shard_bytes)
            cells.append(wide_rate(row["gb_per_s"]))
            if title != "new losses":
                cells.append(best_peer(run, row))
        lines.append("| " + " | ".join(cells) + " |")
    peers = ", ".join(f"{peer['name']} {peer['version']}".strip() for peer in run["peers"])
    count = "one run" if run["runs"] == 1 else f"best of {run['runs']} interleaved runs"
    machine = run["machine"]
    return [*lines, "", f"GB/s of data on one thread of an {machine['cpu']} ({machine['path']}),",
            f"{run['date']}, {count}. Load average at the start: {machine['load_average']:.1f}.",
            f"Peers: {peers}."]


def tree_block(run):
    """The tools for directories, of bench/files.py --tree."""
    head = [*tree_tools.HEAD[:-1], "MiB"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(cells) + " |" for cells in tree_tools.rows(run)]
    where = run["machine"]
    load = sorted((where["load_average"], where["load_average_after"]))
    return [*lines, "", f"{run['bytes'] >> 20} MiB in {tree_tools.FILES} files, {run['date']}, "
            f"{where['cores']} cores of an", f"{where['cpu']}. Load average",
            f"{load[0]:.1f} to {load[1]:.1f}, best of {run['rounds']} interleaved rounds."]


# Each table: the line before it, the run, and the lines in between.
BLOCKS = (("<!-- figures of bench/results, by bench/readme_figures.py -->", "full.json",
           main_block),
          ("<!-- figures of bench/results/wide.json, by bench/readme_figures.py -->", "wide.json",
           wide_block))
TREE_BLOCK = ("<!-- figures of bench/results/files.json, by bench/readme_figures.py -->",
              "files.json", tree_block)
# Pages with their tables, and whether the page must have them.
PAGES = {ROOT / "docs" / "performance.md": (BLOCKS, True), ROOT / "README.md": (BLOCKS, False),
         ROOT / "docs" / "compare.md": ((TREE_BLOCK,), True)}


def with_figures(text, begin, lines, where):
    """Returns the page with one table; `where` is empty if the page may lack it."""
    start = text.find(begin)
    end = text.find(END, start)
    if start < 0 or end < start:
        if where:
            sys.exit(f"readme_figures: {where} has no lines {begin} and {END}")
        return text
    return text[:start] + "\n".join([begin, *lines]) + "\n" + text[end:]


def main():
    for path, (blocks, is_required) in PAGES.items():
        changed = text = path.read_text(encoding="utf-8")
        for begin, name, block in blocks:
            run = json.loads((RESULTS / name).read_text(encoding="utf-8"))
            changed = with_figures(changed, begin, block(run), path.name if is_required else "")
        if "--check" not in sys.argv[1:]:
            path.write_text(changed, encoding="utf-8")
        elif changed != text:
            sys.exit(f"readme_figures: {path.name} differs from bench/results; run "
                     "bench/readme_figures.py")


if __name__ == "__main__":
    main()
