#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/folders.svg: the directories of src and the directories that each one includes.

Usage: folders.py           writes the picture
       folders.py --check   fails if the picture or a walk in ARCHITECTURE.md is out of date
The picture omits arrows that follow from others, and base/, which every directory uses. Colours
mark the directories that the walks of ARCHITECTURE.md pass through.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/folders.svg"
sys.path.insert(0, str(ROOT / "tests"))
import layers  # noqa: E402, pylint: disable=wrong-import-position

WIDTH, BOX_WIDTH, BOX_HEIGHT, ROW, MARGIN = 1060, 104, 34, 78, 16
WALK_COLOURS = ("#2f7d4f", "#b3541e", "#3a5fb0")
STYLE = """
.box{fill:#eef3f8;stroke:#5b7186}.line{fill:none;stroke:#8894a3}.tip{fill:#8894a3}
text{text-anchor:middle;fill:#111;font-size:12.5px}.key{text-anchor:start;font-size:12px}
@media (prefers-color-scheme:dark){.box{fill:#1d2b38;stroke:#7fa6c4}.line{stroke:#76828f}
.tip{fill:#76828f}text{fill:#eef2f6}}
"""


def shown(layer):
    """Returns the box of a layer, or None if the picture omits it."""
    if layer is None or layer == "src/base":
        return None
    if layer.startswith("tools/"):
        return "the command"
    if layer.startswith("src/"):
        return layers.include_name(layer)
    return None if layer == "bench" else layer


def arrows():
    """Maps each box to the boxes whose headers it includes."""
    found = collections.defaultdict(set)
    for path in sorted(ROOT.rglob("*.[ch]pp")):
        name = path.relative_to(ROOT).as_posix()
        here = shown(layers.layer_of(name))
        if here is None:
            continue
        found[here]  # pylint: disable=pointless-statement
        for target in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            there = shown(layers.layer_of_include(target))
            is_own = (ROOT / here / target.split("/")[0]).is_dir()  # plugins/ceph is not src/ceph
            if there and there != here and not is_own:
                found[here].add(there)
    return {here: there - {here} for here, there in found.items()}


def reachable(graph, start):
    seen, waiting = set(), list(graph.get(start, ()))
    while waiting:
        box = waiting.pop()
        if box not in seen:
            seen.add(box)
            waiting += graph.get(box, ())
    return seen


def reduced(graph):
    """Removes arrows that follow from others."""
    return {box: {there for there in theirs
                  if not any(there in reachable(graph, other) for other in theirs - {there})}
            for box, theirs in graph.items()}


def rows(graph):
    """Groups boxes into rows by the longest path below them; the top row comes first."""
    depth = {}

    def depth_of(box):
        if box not in depth:
            depth[box] = 1 + max((depth_of(there) for there in graph.get(box, ())), default=-1)
        return depth[box]

    for box in graph:
        depth_of(box)
    result = [[] for _ in range(1 + max(depth.values()))]
    for box in sorted(graph):
        result[depth[box]].append(box)
    # Move each box near the boxes that it uses and that use it, in a few rounds.
    place = {box: number / max(1, len(row)) for row in result for number, box in enumerate(row)}
    users = {box: [user for user in graph if box in graph[user]] for box in graph}
    for _ in range(12):
        for row in result:
            middle = {box: (sum(place[near] for near in [*graph[box], *users[box]]) /
                            max(1, len(graph[box]) + len(users[box]))) for box in row}
            row.sort(key=lambda box, middle=middle: (middle[box], box))
            for number, box in enumerate(row):
                place[box] = (number + 0.5) / len(row)
    return result[::-1]


def walks():
    """Returns [(title, [file, ...])] from ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text[text.index("## Three walks"):text.index("## Invariants")]
    return [(part.splitlines()[0], re.findall(r"^\d+\. `([^`]+)`", part, re.M))
            for part in section.split("\n### ")[1:]]


def box_svg(box, x, y, colours):
    lines = [f'<rect class="box" x="{x:.0f}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" '
             f'rx="6"/>',
             f'<text x="{x + BOX_WIDTH / 2:.0f}" y="{y + 22}">{box}</text>']
    for number, colour in enumerate(colours):
        lines.append(f'<rect x="{x + 6 + 14 * number:.0f}" y="{y + BOX_HEIGHT - 4}" width="12" '
                     f'height="4" fill="{colour}"/>')
    return lines


def picture():
    graph = arrows()
    kept = reduced(graph)
    place = {}
    levels = rows(kept)
    for level, row in enumerate(levels):
        gap = (WIDTH - 2 * MARGIN) / len(row)
        for number, box in enumerate(row):
            place[box] = (MARGIN + gap * (number + 0.5) - BOX_WIDTH / 2, 40 + level * ROW)
    colours = collections.defaultdict(list)
    titles = []
    for colour, (title, files) in zip(WALK_COLOURS, walks()):
        titles.append((colour, title))
        for box in {shown(layers.layer_of(file)) for file in files}:
            colours[box].append(colour)
    height = 40 + len(levels) * ROW
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'font-family="sans-serif" role="img" '
           'aria-label="Directories of src and their includes">',
           "<!-- SPDX-License-Identifier: Apache-2.0; made by tools/site/folders.py -->",
           f"<style>{STYLE}</style>",
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
           'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>']
    for number, (colour, title) in enumerate(titles):
        out.append(f'<rect x="{MARGIN + 300 * number}" y="10" width="12" height="8" '
                   f'fill="{colour}"/><text class="key" x="{MARGIN + 300 * number + 18}" y="18">'
                   f"{title}</text>")
    for box in sorted(kept):
        for there in sorted(kept[box]):
            (x, y), (to_x, to_y) = place[box], place[there]
            out.append(f'<path class="line" d="M{x + BOX_WIDTH / 2:.0f} {y + BOX_HEIGHT}'
                       f'C{x + BOX_WIDTH / 2:.0f} {y + BOX_HEIGHT + 26} '
                       f'{to_x + BOX_WIDTH / 2:.0f} {to_y - 26} {to_x + BOX_WIDTH / 2:.0f} {to_y}" '
                       f'marker-end="url(#tip)"/>')
    for box in sorted(place):
        out += box_svg(box, *place[box], colours[box])
    return "\n".join([*out, "</svg>"]) + "\n"


def problems():
    for title, files in walks():
        if len(files) > 12:
            yield f"ARCHITECTURE.md: '{title}' has {len(files)} steps; expected at most 12"
        for file in files:
            if not (ROOT / file).is_file():
                yield f"ARCHITECTURE.md: '{title}' names {file}, which does not exist"
    if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture():
        yield "docs/folders.svg is out of date: run tools/site/folders.py"


def main():
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(picture(), encoding="utf-8")
        return 0
    found = list(problems())
    print("\n".join(found) if found else f"folders: {len(arrows())} boxes, {len(walks())} walks")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
