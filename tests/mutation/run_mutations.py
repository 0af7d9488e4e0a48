#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each bug of mutations.py in a copy of the repository, builds the named tests and expects
one to fail. Slow; runs nightly.

  run_mutations.py [--work DIR] [--only TEXT]... all, or those whose name has a TEXT
  run_mutations.py --chosen [--work DIR]        the 24 of chosen.py
  run_mutations.py --part 1/2 [--work DIR]      every second one, to use two cores
  run_mutations.py --random COUNT [--seed N]    one changed token each (random_mutants.py)
  run_mutations.py --check                      only check that all mutations apply
"""
import argparse
import fnmatch
import pathlib
import re
import sys
import tempfile
import time

import random_mutants
import trial
from chosen import CHOSEN
from mutations import MUTATIONS


def planted(mutation, root):
    """(mutated text, None) or (None, reason)."""
    text = (root / mutation.file).read_text()
    count = text.count(mutation.before)
    if count != 1:
        return None, f"{mutation.file}: occurs {count} times; expected once: {mutation.before!r}"
    return text.replace(mutation.before, mutation.after), None


def chosen():
    """The mutations of chosen.py."""
    by_name = {m.name: m for m in MUTATIONS}
    unknown = [name for name in CHOSEN if name not in by_name]
    if unknown or len(set(CHOSEN)) != 24:
        sys.exit(f"chosen.py: {len(set(CHOSEN))} names; expected 24; unknown: {unknown}")
    return [by_name[name] for name in CHOSEN]


def test_names(root):
    """Suite.name of every test in the sources."""
    macro = re.compile(r"\b(?:TYPED_)?(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)"
                       r"\s*\(\s*(\w+)\s*,\s*(\w+)")
    return {f"{suite}.{name}" for path in (root / "tests").rglob("*.cpp")
            for suite, name in macro.findall(path.read_text())}


def unmatched_filters(mutations, root):
    """Filters that match no test: GoogleTest would run none and report success."""
    names = test_names(root)
    for mutation in mutations:
        for test in mutation.tests:
            for pattern in filter(None, test.partition("/")[2].split(":")):
                # Parameterised tests have a prefix before the suite and a suffix after the name.
                plain = re.sub(r"^[^.]*/|/[^.]*$", "", pattern)
                if not fnmatch.filter(names, plain):
                    yield f"{mutation.name}: no test matches {pattern!r} of {test!r}"


def check(mutations):
    chosen()
    messages = [message for m in mutations for message in [planted(m, trial.ROOT)[1]] if message]
    gone = [*random_mutants.check(trial.ROOT), *unmatched_filters(mutations, trial.ROOT)]
    print("\n".join([*messages, *gone, f"mutations: {len(mutations) - len(messages)} apply"]))
    return 1 if messages or gone else 0


def try_one(mutation, source, folder):
    """The test that detected it, or "". Raises if it cannot be tried."""
    text, message = planted(mutation, source)
    if message:
        raise RuntimeError(message)
    return trial.noticed_by(source / mutation.file, text, folder, mutation.tests)


def run(mutations, work):
    source = trial.copy(work)
    folder = trial.prepare(source, "dev", sorted({test for m in mutations for test in m.tests}))
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
    parser.add_argument("--random", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    asked = [m for m in (chosen() if arguments.chosen else MUTATIONS)
             if not arguments.only or any(text in m.name for text in arguments.only)]
    part, parts = (int(number) for number in arguments.part.split("/"))
    asked = asked[part - 1::parts]
    if not asked:
        sys.exit(f"no mutation has a name with {arguments.only!r}")
    if arguments.check:
        return check(asked)
    if arguments.work:
        return run_asked(arguments, asked, arguments.work.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return run_asked(arguments, asked, pathlib.Path(folder))


def run_asked(arguments, asked, work):
    if arguments.random:
        return random_mutants.run(arguments.random, arguments.seed, work)
    return run(asked, work)


if __name__ == "__main__":
    sys.exit(main())
