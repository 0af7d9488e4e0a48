#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a fuzz target from its seeds: run_fuzz.py PROGRAM KIND RUNS MAX_LEN SEED

Seeds come from seeds.py and from the files in corpus/KIND, which include inputs that once failed.
Does a tenth of RUNS. With CALPE_NIGHTLY=1, does all of them with a new SEED every night. A failing
input is kept in the current directory and printed. Commit it to corpus/KIND with the fix.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import seeds as made

SEEDS_MIN = 5


def main():
    program, kind, runs, max_len, seed = *sys.argv[1:3], int(sys.argv[3]), *sys.argv[4:6]
    if os.environ.get("CALPE_NIGHTLY", "0") not in ("", "0"):
        seed = time.time_ns() % 10**9
    else:
        runs //= 10
    with tempfile.TemporaryDirectory() as corpus:
        seeds = list(made.SEEDS[kind]()) if kind in made.SEEDS else []
        kept = pathlib.Path(__file__).resolve().parent / "corpus" / kind
        seeds += [file.read_bytes() for file in sorted(kept.glob("*"))]
        for i, raw in enumerate(seeds):
            pathlib.Path(corpus, f"seed{i}").write_bytes(raw)
        done = subprocess.run(
            [program, f"-runs={runs}", "-rss_limit_mb=512", f"-max_len={max_len}", "-timeout=10",
             # Weighing the inputs again for every run would take a quarter of the time.
             "-entropic=0",
             "-print_final_stats=1", "-artifact_prefix=fuzz_failure_", f"-seed={seed}", corpus],
            capture_output=True, text=True, errors="replace", check=False,
            # A quarantine of 16 MB and call stacks of 6 frames are enough.
            env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=6"})
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    peak = re.search(r"stat::peak_rss_mb:\s*(\d+)", done.stderr)
    coverage = re.findall(r"cov: (\d+)", done.stderr)
    if done.returncode != 0 or not executed or int(executed[1]) < runs or len(seeds) < SEEDS_MIN:
        print(done.stdout + done.stderr)
        print(f"fuzz {kind}: failed with status {done.returncode}")
        return 1
    # A target that reaches nothing beyond its seeds would not fail either.
    grown = int(coverage[-1]) - int(coverage[0])
    print(f"fuzz {kind}: {executed[1]} runs of seed {seed}, {peak[1]} MB at most, coverage "
          f"{coverage[0]} -> {coverage[-1]}")
    return 0 if grown > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
