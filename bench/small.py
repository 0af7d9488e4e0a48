#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures small shards against ISA-L: small.py BENCH_SMALL LIBISAL [--runs N] [--rounds N]

Runs build/*/bench/bench_small several times, takes the best time of each side over all runs, and
prints ISA-L's time over ours: with Codec::run, with a prepared plan, and for batches of 64 stripes
with run_batch and with a prepared plan. Also prints the bars and exits with 1 if a cell misses its
bar: 1.0 with a prepared plan, 0.8 with the ordinary calls from 256 bytes.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SIDES = ("isal", "run", "prepared", "isal_batch", "run_batch", "prepared_batch")
PREPARED_BAR = 1.0
ORDINARY_BAR = 0.8
ORDINARY_BYTES_MIN = 256


def measure(program, library, runs, rounds):
    """Returns {(code, operation, bytes): {side: (best, median)}}; medians are of the last run."""
    cells = {}
    for _ in range(runs):
        done = subprocess.run([program, library, str(rounds)], check=True, text=True,
                              stdout=subprocess.PIPE)
        for line in done.stdout.splitlines():
            cell = json.loads(line)
            key = (cell["code"], cell["operation"], cell["bytes"])
            times = cells.setdefault(key, {})
            for side in SIDES:
                best = min(times.get(side, (float("inf"),))[0], cell[side]["best"])
                times[side] = (best, cell[side]["median"])
    return cells


def ratios(times, which=0):
    """ISA-L's time over ours: run, prepared, run_batch, prepared_batch."""
    one, many = times["isal"][which], times["isal_batch"][which]
    return [one / times["run"][which], one / times["prepared"][which],
            many / times["run_batch"][which], many / times["prepared_batch"][which]]


def misses(size, values):
    """True if a ratio is below its bar."""
    run, prepared, run_batch, prepared_batch = values
    ordinary = size < ORDINARY_BYTES_MIN or min(run, run_batch) >= ORDINARY_BAR
    return min(prepared, prepared_batch) < PREPARED_BAR or not ordinary


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="write all times as JSON")
    options = parser.parse_args()
    cells = measure(options.program, options.library, options.runs, options.rounds)
    if options.output:
        rows = [{"code": code, "operation": operation, "bytes": size, "nanoseconds": times}
                for (code, operation, size), times in cells.items()]
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    print("nanoseconds per stripe, best; ISA-L's time over ours, best over best (median)")
    print(f"{'code':6} {'operation':9} {'bytes':>5} {'ISA-L':>7} {'prepared':>8}   "
          f"{'run':12} {'prepared':12} {'run_batch':12} {'prepared batch':14}")
    missed = 0
    for (code, operation, size), times in cells.items():
        best, median = ratios(times), ratios(times, 1)
        missed += misses(size, best)
        shown = "   ".join(f"{b:.2f} ({m:.2f})" for b, m in zip(best, median))
        verdict = "  below its bar" if misses(size, best) else ""
        print(f"{code:6} {operation:9} {size:5} {times['isal'][0]:7.1f} "
              f"{times['prepared'][0]:8.1f}   {shown}{verdict}")
    print(f"{len(cells)} cells, {missed} below their bar")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
