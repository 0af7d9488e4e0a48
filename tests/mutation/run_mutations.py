#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a planted bug? Plants each of mutations.py in a copy of the repository,
builds what it names and expects a test to fail. Slow: nightly only.

  run_mutations.py [--work DIR] [--only TEXT]... all, or those whose name has a TEXT
  run_mutations.py --chosen [--work DIR]        the 24 of chosen.py
  run_mutations.py --part 1/2 [--work DIR]      every second one: two cores share them
  run_mutations.py --check                      only: does every mutation still apply?
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from chosen import CHOSEN
from mutations import MUTATIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_COPIED = shutil.ignore_patterns("build", ".git", "__pycache__")
TEST_SECONDS_MAX = 900
# What a test runs beside the target that its name says.
ALSO_BUILT = {"python:texts": ["calpe_command"]}
# One seed, so that a survivor survives again; its smallest case is of no interest.
ENVIRONMENT = {**os.environ, "RC_PARAMS": "seed=1 noshrink=1", "CALPE_TEST_SEED": "1",
               "GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", "PYTEST_ADDOPTS": "-x"}


def planted(mutation, root):
    """The mutated text, or an explanation why there is none."""
    text = (root / mutation.file).read_text()
    count = text.count(mutation.before)
    if count != 1:
        return None, f"{mutation.file}: occurs {count} times, expected once: {mutation.before!r}"
    return text.replace(mutation.before, mutation.after), None


def chosen():
    """Those of chosen.py; each is there once."""
    by_name = {m.name: m for m in MUTATIONS}
    unknown = [name for name in CHOSEN if name not in by_name]
    if unknown or len(set(CHOSEN)) != 24:
        sys.exit(f"chosen.py: {len(set(CHOSEN))} names, expected 24; unknown: {unknown}")
    return [by_name[name] for name in CHOSEN]


def check(mutations):
    chosen()
    messages = [message for m in mutations for message in [planted(m, ROOT)[1]] if message]
    print("\n".join(messages + [f"mutations: {len(mutations) - len(messages)} apply"]))
    return 1 if messages else 0


def target_of(test):
    return "calpe_" + test.split("/")[0].split(":")[0]


def build(folder, tests):
    """Empty, or the end of what the compiler said."""
    targets = sorted({target for test in tests
                      for target in [target_of(test), *ALSO_BUILT.get(test, [])]})
    done = subprocess.run(["ninja", "-C", folder, *targets], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-3000:]


def fails(folder, test):
    name, _, filter_ = test.partition("/")
    program = [folder / "tests" / target_of(test)]
    if ":" in name:  # the environment of a device set-up is ctest's
        program = ["ctest", "--test-dir", folder, "-R", f"^calpe_{name.replace(':', '_')}$"]
    environment = {**ENVIRONMENT, "GTEST_FILTER": filter_ or "*"}
    try:
        return subprocess.run(program, env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=TEST_SECONDS_MAX).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def try_one(mutation, source, folder):
    """Who noticed; empty when nobody did. Raises when it cannot be tried."""
    text, message = planted(mutation, source)
    if message:
        raise RuntimeError(message)
    path = source / mutation.file
    original = path.read_text()
    path.write_text(text)
    try:
        trouble = build(folder, mutation.tests)
        if trouble:
            raise RuntimeError("does not compile:\n" + trouble)
        return next((test for test in mutation.tests if fails(folder, test)), "")
    finally:
        path.write_text(original)


def prepare(work, tests):
    """A copy that is built and whose tests pass: a red one would notice anything."""
    source = work / "source"
    folder = source / "build" / "dev"  # where a compiler cache knows it from
    for path in source.glob("*"):
        if path.name != "build":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    # With new times: an object left by the mutation of an earlier run must not pass for current.
    shutil.copytree(ROOT, source, ignore=NOT_COPIED, copy_function=shutil.copy, dirs_exist_ok=True)
    # A mutation may well cause a warning; it is the tests that should notice.
    subprocess.run(["cmake", "--preset", "dev", "-D", "CALPE_WERROR=OFF", "-B", folder],
                   cwd=source, check=True, stdout=subprocess.DEVNULL)
    trouble = build(folder, tests)
    if trouble:
        sys.exit("the sound copy does not build:\n" + trouble)
    red = [test for test in tests if fails(folder, test)]
    if red:
        sys.exit("fail without any mutation: " + ", ".join(red))
    return source, folder


def run(mutations, work):
    source, folder = prepare(work, sorted({test for m in mutations for test in m.tests}))
    survivors = []
    for number, mutation in enumerate(mutations, 1):
        started = time.monotonic()
        noticed = try_one(mutation, source, folder)
        if not noticed:
            survivors.append(mutation.name)
        print(f"{number:3}/{len(mutations)} {time.monotonic() - started:5.0f} s  {mutation.name}: "
              f"{'noticed by ' + noticed if noticed else 'SURVIVED'}", flush=True)
    print(f"mutations: {len(mutations) - len(survivors)} of {len(mutations)} noticed")
    return 1 if survivors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--only", action="append", metavar="TEXT", default=[])
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    asked = [m for m in (chosen() if arguments.chosen else MUTATIONS)
             if not arguments.only or any(text in m.name for text in arguments.only)]
    part, parts = (int(number) for number in arguments.part.split("/"))
    asked = asked[part - 1::parts]
    if not asked:
        sys.exit(f"no mutation is called {arguments.only!r}")
    if arguments.check:
        return check(asked)
    if arguments.work:
        return run(asked, arguments.work.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return run(asked, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
