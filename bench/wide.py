#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures codes of 6 to 65,536 shards next to other libraries: wide.py CALPE [--peer NAME=COMMAND]

Runs `calpe bench --wide` and one program per peer in turn, shape by shape, for several rounds.
Keeps the best rate of each and writes a run file that `calpe report` draws. A peer's command gets
the arguments K M BYTES SECONDS. It prints lines of an operation and a rate in GB/s of data,

    encode 8.49
    decode 0.79
    one 0.85

or `skip REASON`. decode rebuilds the first M data shards, one the first. The program measures one
thread and must have compared the rebuilt bytes. NAME may be NAME:VERSION.
"""
import argparse
import datetime
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHAPES = ("4+2", "10+4", "20+10", "32+32", "64+64", "128+128", "200+56", "256+64", "1000+200",
          "4096+1024", "10000+2000", "32768+32768")
# Words of the peers and of `calpe bench`.
OPERATIONS = {"encode": "encode", "decode": "decode", "one": "decode1"}


def run_peer(command, shape, shard_bytes, seconds):
    """Returns {operation: GB/s} and the reason if there is none."""
    done = subprocess.run([*shlex.split(command), *shape.split("+"), str(shard_bytes),
                           str(seconds)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wide: {command} {shape}: exit code {done.returncode}: {done.stdout}")
    rates, reason = {}, None
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "skip":
            reason = rest
        elif word in OPERATIONS:
            rates[word] = float(rest)
    return rates, reason


def run_calpe(calpe, shape, shard_bytes, seconds):
    """Returns the report, or the reason why this build refuses the shape."""
    # The grid has four operations.
    done = subprocess.run([calpe, "bench", "--wide", "--json", "--quiet", "--shape", shape,
                           "--bytes", str(shard_bytes), "--seconds", str(4 * seconds)],
                          capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None, done.stderr.strip().removeprefix("calpe bench: ")
    if done.returncode != 0:
        sys.exit(f"wide: calpe bench {shape}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), None


class Cells:
    """The best rows of Calpe and all rates of the peers."""

    def __init__(self):
        self.rows = {}  # (shape, operation): the best row
        self.rates = {}  # (shape, operation, contestant): GB/s of each round
        self.skipped = {}
        self.machine = None

    def add_report(self, shape, report):
        self.machine = self.machine or report["machine"]
        for row in report["rows"]:
            key = (shape, row["operation"])
            self.rates.setdefault((*key, ""), []).append(row["gb_per_s"])
            best = self.rows.get(key)
            if best is None:
                self.rows[key] = row
                continue
            # The memory limit belongs to the machine, not to one of its runs.
            fast, slow = sorted((best, row), key=lambda each: -each["gb_per_s"])
            if slow["roof_gb_per_s"] > fast["roof_gb_per_s"]:
                fast = {**fast, **{name: value for name, value in slow.items() if "roof" in name}}
                for kind in ("", "_plain", "_nt"):
                    roof = fast[f"roof{kind}_gb_per_s"]
                    fast[f"fraction_of_roof{kind}"] = round(fast["gb_per_s"] / roof, 4)
            self.rows[key] = fast

    def add_peer(self, shape, peer, rates):
        for word, rate in rates.items():
            self.rates.setdefault((shape, OPERATIONS[word], peer), []).append(rate)

    def merged_rows(self, peers):
        rows = []
        for (shape, operation), best in self.rows.items():
            row = dict(best)
            row["runs"] = len(self.rates[shape, operation, ""])
            row["gb_per_s_runs"] = self.rates[shape, operation, ""]
            for peer in peers:
                rates = self.rates.get((shape, operation, peer))
                row[f"ratio_{peer}"] = row[f"gb_per_s_{peer}"] = None
                if rates is None:
                    continue
                for suffix, rate in (("", max(rates)), ("_median", statistics.median(rates))):
                    row[f"gb_per_s_{peer}{suffix}"] = rate
                    row[f"seconds_{peer}{suffix}"] = row["bytes"] / rate / 1e9
                row[f"ratio_{peer}"] = round(row["gb_per_s"] / max(rates), 3)
            rows.append(row)
        return rows


def measure(options, peers):
    """Yields the cells after each round."""
    cells = Cells()
    for turn in range(options.rounds):
        for shape in options.shape:
            report, reason = run_calpe(options.calpe, shape, options.bytes, options.seconds)
            if report is None:
                cells.skipped[shape, ""] = reason
            else:
                cells.add_report(shape, report)
            for peer, command in peers.items():
                rates, reason = run_peer(command, shape, options.bytes, options.seconds)
                cells.add_peer(shape, peer, rates)
                if reason:
                    cells.skipped[shape, peer] = reason
            print(f"round {turn + 1} of {options.rounds}: {shape}", file=sys.stderr)
        yield cells, turn + 1


def run_file(cells, peers, versions, rounds, options):
    """A run as `calpe bench --wide -o` writes it, with the peers."""
    rows = cells.merged_rows(peers)
    # Rates of shapes that this build refuses are kept apart: a row needs Calpe's own rate.
    others = [{"shape": shape, "operation": operation, "peer": peer, "rates": rates}
              for (shape, operation, peer), rates in cells.rates.items()
              if (shape, operation) not in cells.rows]
    return {"machine": cells.machine, "extent": "wide",
            "date": datetime.date.today().isoformat(), "runs": rounds,
            "seconds": options.seconds,
            "peers": [{"name": peer, "version": versions[peer], "library": ""} for peer in peers],
            "rows": rows, "peers_alone": others,
            "skipped": [{"shape": shape, "contestant": peer or "calpe", "reason": reason}
                        for (shape, peer), reason in cells.skipped.items()]}


def to_text(run):
    """JSON with one line per row."""
    rows = ",\n".join("    " + json.dumps(row) for row in run["rows"])
    text = json.dumps({**run, "rows": []}, indent=2)
    return text.replace('"rows": []', f'"rows": [\n{rows}\n  ]') + "\n"


def table(run):
    """Rates of all contestants as lines of Markdown."""
    peers = [peer["name"] for peer in run["peers"]]
    lines = ["| shape | operation | Calpe | " + " | ".join(peers) + " | memory limit |",
             "|---|---|" + "---:|" * (len(peers) + 2)]
    for row in run["rows"]:
        cells = [f"{row['data_shards']}+{row['parity_shards']}", row["operation"]]
        for name in ("gb_per_s", *[f"gb_per_s_{peer}" for peer in peers], "roof_gb_per_s"):
            rate = row[name]
            cells.append("-" if rate is None else f"{rate:.{2 if rate < 10 else 1}f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calpe", help="the command, from a release build")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME[:VERSION]=COMMAND")
    parser.add_argument("--shape", action="append", metavar="K+M")
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=0.5, help="per operation and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=ROOT / "bench" / "results" / "wide.json")
    options = parser.parse_args()
    options.shape = options.shape or list(SHAPES)
    peers, versions = {}, {}
    for each in options.peer:
        title, equals, command = each.partition("=")
        name, _, version = title.partition(":")
        if not equals or not name.replace("-", "").replace("_", "").isalnum():
            parser.error(f"--peer is '{each}'; expected NAME=COMMAND or NAME:VERSION=COMMAND")
        peers[name], versions[name] = command, version
    # Written after each round, so that an interrupted run keeps its results.
    for cells, rounds in measure(options, peers):
        if not cells.rows:
            sys.exit("wide: this build refuses every shape: " + "; ".join(cells.skipped.values()))
        run = run_file(cells, peers, versions, rounds, options)
        options.output.write_text(to_text(run), encoding="utf-8")
    print("\n".join(table(run)))


if __name__ == "__main__":
    main()
