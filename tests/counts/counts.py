#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a call or a hot loop has more instructions than in baseline.json.

  counts.py [--build DIR] [--part calls|loops]   compare; run by ctest, label `speed`
  counts.py [--build DIR] --update               build, count, and rewrite the baseline

Counts do not depend on load, but on the compiler; with another compiler than the baseline's nothing
is compared. Exit code: 0 good, 1 worse, 2 wrong usage, 77 skipped. docs/benchmarking.md describes
the counts.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import baseline as baselines
import calls
import kernel_loops

HERE = pathlib.Path(__file__).resolve().parent
BUILD_FOLDER = HERE.parent.parent / "build" / "dev"
EXIT_SKIPPED = 77


class Skip(Exception):
    """Nothing to compare, with the reason."""


def need(tool):
    if shutil.which(tool) is None:
        raise Skip(f"{tool} is not installed")


def count_part(part, build):
    """{name: {column: number}} and {path: reason why it is missing}"""
    if part == "calls":
        need("valgrind")
        if not build["program"]:
            raise Skip("built without valgrind/callgrind.h")
        counts, absent = calls.count_calls(build["program"])
        return {name: {"instructions": value} for name, value in counts.items()}, absent
    need("objdump")
    objects = [file for file in build["objects"] if kernel_loops.path_of(file)]
    if not objects:
        raise Skip("this build has no such kernels")
    return kernel_loops.count_objects(objects), {}


def check_compiler(baseline, build):
    for key in ("compiler", "flags"):
        if baseline[key] != build[key]:
            raise Skip(f"the baseline is for {key} '{baseline[key]}'; this build has "
                       f"'{build[key]}'")


def of_paths_here(entries, absent):
    return {name: value for name, value in entries.items() if name.split(" ")[0] not in absent}


def report(comparison, command):
    for title, lines in (("better; update the baseline to keep it", comparison.better),
                         ("not in the baseline", comparison.new),
                         ("WORSE", comparison.worse),
                         ("GONE, only in the baseline", comparison.gone)):
        if lines:
            print(f"\n{title}:")
            print("\n".join(f"  {line}" for line in lines))
    if comparison.fails():
        print(f"\ncounts: worse than the baseline. If intended, run\n  {command}\n"
              "and commit tests/counts/baseline.json with the reason.")


def compare(part, baseline, build, command):
    """Returns True if the part is good."""
    check_compiler(baseline, build)
    now, absent = count_part(part, build)
    for path, reason in absent.items():
        print(f"counts: {path} is not compared: {reason}")
    before = of_paths_here(baseline[part], absent)
    print(baselines.table(before, now))
    comparison = baselines.Comparison(before, now, baseline["tolerance"][part])
    report(comparison, command)
    return not comparison.fails()


def update(path, build):
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    if old:
        check_compiler(old, build)
    subprocess.run(["cmake", "--build", build["folder"], "--target", "calpe_counted_work"],
                   check=True)
    new = {key: build[key] for key in ("compiler", "flags")}
    new["tolerance"] = old["tolerance"] if old else baselines.TOLERANCE
    for part in baselines.PARTS:
        now, absent = count_part(part, build)
        kept = {} if not old else {name: value for name, value in old[part].items()
                                   if name.split(" ")[0] in absent}
        if old:
            print(baselines.table(old[part], {**now, **kept}))
        new[part] = {**now, **kept}
    path.write_text(baselines.to_text(new), encoding="utf-8")
    print(f"counts: wrote {path.name}, {sum(len(new[part]) for part in baselines.PARTS)} lines")


def update_command(build_folder):
    is_usual = pathlib.Path(build_folder).resolve() == BUILD_FOLDER
    where = "" if is_usual else f" --build {build_folder}"
    return f"tests/counts/counts.py{where} --update"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(BUILD_FOLDER),
                        help="build folder; build/dev unless given")
    parser.add_argument("--part", choices=baselines.PARTS, help="both unless given")
    parser.add_argument("--baseline", default=str(HERE / "baseline.json"))
    parser.add_argument("--update", action="store_true", help="rewrite the baseline")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    description = pathlib.Path(arguments.build) / "tests" / "counts" / "build.json"
    path = pathlib.Path(arguments.baseline)
    command = update_command(arguments.build)
    try:
        build = json.loads(description.read_text(encoding="utf-8"))
        if arguments.update:
            update(path, build)
            return 0
        baseline = json.loads(path.read_text(encoding="utf-8"))
        parts = [arguments.part] if arguments.part else baselines.PARTS
        good = [compare(part, baseline, build, command) for part in parts]
        return 0 if all(good) else 1
    except Skip as skip:
        print(f"counts: skipped: {skip}")
        return EXIT_SKIPPED
    except OSError as error:
        print(f"counts: {error}", file=sys.stderr)
        return 2
    except (calls.CallsError, subprocess.CalledProcessError) as error:
        print(f"counts: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
