#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reports of `calpe bench` with the performance targets in bars.json.

Prints cell, figure, target, stretch goal and verdict. Several reports of one build count as one
run: best round of all over best round of all. Exit code: 0 all targets met, 1 a target missed or
not measured, 2 wrong usage.

  calpe bench --full --peer isal=PATH --peer jerasure -o full.json
  calpe bench --cold --bytes 64K --operation encode --peer isal=PATH -o cold.json
  bench/bars.py full.json cold.json
"""
import argparse
import fnmatch
import json
import pathlib
import re
import sys

UNITS = {"K": 1 << 10, "M": 1 << 20}
# Defaults of fields that older reports lack.
EARLIER = {"condition": "hot", "layout": "padded", "stores": "automatic", "threads": 1,
           "pool_threads": 1}


class Bars:
    """The data file."""

    def __init__(self, data):
        self.usual = data["usual"]
        self.peer_version_least = data["peer_version_least"]
        self.groups = data["bars"]


def version_numbers(text):
    return [int(part) for part in re.findall(r"\d+", text)]


def bytes_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def matches(row, wanted):
    for name, value in wanted.items():
        got = row.get(name, EARLIER.get(name))
        # A plan touches no shard, so conditions do not apply.
        if row["operation"] == "plan" and name in EARLIER:
            continue
        if isinstance(value, str) and not fnmatch.fnmatchcase(str(got), value):
            return False
        if not isinstance(value, str) and got != value:
            return False
    return True


def peer_fields(report, field, group, least):
    """Returns the row field of the peer in `field` whose version the target asks for.

    "gb_per_s_isal" may be "gb_per_s_isal_2" in a report with two of them. Returns None if no field
    matches.
    """
    found = re.match(r"gb_per_s_(isal|jerasure|klauspost)$", field)
    if not found:
        return field
    name = found[1]
    below = group.get("peer_version_below")
    for peer in report["peers"]:
        if re.sub(r"_\d+$", "", peer["name"]) != name:
            continue
        version = version_numbers(peer["version"])
        is_new = version >= version_numbers(least.get(name, ""))
        if (version < version_numbers(below)) if below else is_new:
            return f"gb_per_s_{peer['name']}"
    return None


def best_of(reports, group, wanted, field, least):
    """Returns the best value of a field over all matching rows, or None if not measured."""
    values = []
    for report in reports:
        name = peer_fields(report, field, group, least)
        values += [row[name] for row in report["rows"]
                   if matches(row, wanted) and row.get(name) is not None]
    if not values:
        return None
    return min(values) if field.startswith("plan_us") else max(values)


def figure_of(reports, bars, group, shape, shard_bytes):
    data_shards, parity_shards = map(int, shape.split("+"))
    wanted = {**bars.usual, **group["where"], "data_shards": data_shards,
              "parity_shards": parity_shards, "shard_bytes": shard_bytes}
    parts = group["figure"].split(" / ")
    least = bars.peer_version_least
    values = [best_of(reports, group, wanted, part, least) for part in parts]
    if "against" in group:
        other = {**wanted, **group["against"]}
        values.append(best_of(reports, group, other, parts[0], least))
    if None in values:
        return None
    return values[0] if len(values) == 1 else values[0] / values[1]


def verdict_of(figure, marks, is_limit):
    if figure is None:
        return "not measured"
    reached = [figure <= mark if is_limit else figure >= mark for mark in marks]
    if not reached[0]:
        return "MISSED"
    return "stretch" if reached[-1] and len(marks) > 1 else "met"


def judge(reports, bars):
    """Yields title, cell, figure, marks, verdict."""
    for group in bars.groups:
        for shape, sizes in group["cells"].items():
            for size, marks in sizes.items():
                figure = figure_of(reports, bars, group, shape, bytes_of(size))
                verdict = verdict_of(figure, marks, group.get("is_limit", False))
                cell = shape if size == "0" else f"{shape} {size}"
                yield group["title"], cell, figure, marks, verdict


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def print_table(results):
    last_title = None
    for title, cell, figure, marks, verdict in results:
        if title != last_title:
            print(f"\n{title}\n  {'cell':<12} {'figure':>8} {'target':>6} {'stretch':>8}  verdict")
            last_title = title
        stretch = marks[1] if len(marks) > 1 else None
        print(f"  {cell:<12} {number(figure):>8} {number(marks[0]):>6} {number(stretch):>8}  "
              f"{verdict}")


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"bars.py: cannot read {path}: {error}", file=sys.stderr)
        sys.exit(2)


def read_report(path):
    report = read_json(path)
    if not isinstance(report, dict) or "rows" not in report or "peers" not in report:
        print(f"bars.py: {path} has no rows and peers; expected a report of `calpe bench -o`",
              file=sys.stderr)
        sys.exit(2)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", metavar="run.json", help="from calpe bench -o")
    parser.add_argument("--bars", default=pathlib.Path(__file__).with_name("bars.json"),
                        help="file with the targets")
    parser.add_argument("--measured", action="store_true",
                        help="skip targets that the reports do not cover")
    arguments = parser.parse_args()
    bars = Bars(read_json(arguments.bars))
    results = list(judge([read_report(path) for path in arguments.reports], bars))
    if arguments.measured:
        results = [result for result in results if result[-1] != "not measured"]
    print_table(results)
    verdicts = [result[-1] for result in results]
    met = verdicts.count("met") + verdicts.count("stretch")
    print(f"\n{met} of {len(verdicts)} targets met, {verdicts.count('MISSED')} missed, "
          f"{verdicts.count('not measured')} not measured")
    return 0 if verdicts and met == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
