# SPDX-License-Identifier: Apache-2.0
"""Reads and writes baseline.json and compares it with counts.

A count is a number; less is better. A part of the baseline is {name: {column: number}}.
"""
import json
import re

PARTS = ("calls", "loops")
TOLERANCE = {"calls": 0.03, "loops": 0.05}


def natural(name):
    """Sort key that puts products[2] before products[10]."""
    return [(0, int(word), "") if word.isdigit() else (1, 0, word)
            for word in re.findall(r"\d+|\D+", name)]


def to_text(baseline):
    """Formats with one line per name, for readable diffs."""
    lines = ["{"]
    for key in ("compiler", "flags", "tolerance"):
        lines.append(f'  "{key}": {json.dumps(baseline[key])},')
    for part in PARTS:
        lines.append(f'  "{part}": {{')
        entries = [f'    {json.dumps(name)}: {json.dumps(baseline[part][name])}'
                   for name in sorted(baseline[part], key=natural)]
        lines.append(",\n".join(entries))
        lines.append("  }" + ("" if part == PARTS[-1] else ","))
    return "\n".join([*lines, "}", ""])


def change_of(before, now):
    """Relative change: 0.05 is five percent more; infinite if it was 0."""
    if before == now:
        return 0.0
    return now / before - 1 if before > 0 else float("inf")


def percent(change):
    return "same" if change == 0 else "from 0" if change == float("inf") else f"{change:+.1%}"


class Comparison:
    """Report lines: `worse` and `gone` fail, `better` and `new` are only reported."""

    def __init__(self, before, now, tolerance):
        self.worse, self.better = [], []
        self.gone = sorted(set(before) - set(now), key=natural)
        self.new = sorted(set(now) - set(before), key=natural)
        for name in sorted(set(before) & set(now), key=natural):
            for column, value in before[name].items():
                self.compare(f"{name}: {column}", value, now[name].get(column, 0), tolerance)

    def compare(self, name, before, now, tolerance):
        change = change_of(before, now)
        line = f"{name} {before:g} -> {now:g} ({percent(change)})"
        if change > tolerance + 1e-9:
            self.worse.append(line)
        elif change < -tolerance - 1e-9:
            self.better.append(line)

    def fails(self):
        return bool(self.worse or self.gone)


def table(before, now):
    """Name, baseline, current value and change of the first column; other columns current only."""
    names = sorted(set(before) | set(now), key=natural)
    if not names:
        return ""
    width = max(map(len, names))
    rest = list(next(iter((now or before).values())))[1:]
    lines = [f"{'name':{width}} {'baseline':>10} {'now':>10} {'change':>8}"
             + "".join(f" {column:>13}" for column in rest)]
    for name in names:
        old, new = before.get(name), now.get(name)
        first = [next(iter(each.values())) if each else None for each in (old, new)]
        cells = ["-" if value is None else f"{value:.10g}" for value in first]
        change = percent(change_of(*first)) if None not in first else "-"
        lines.append(f"{name:{width}} {cells[0]:>10} {cells[1]:>10} {change:>8}"
                     + "".join(f" {(new or old)[column]:>13g}" for column in rest))
    return "\n".join(lines)
