# SPDX-License-Identifier: Apache-2.0
"""Seeded random bugs: one token of src/ is changed, and a unit test should fail. The tests of its
directory run first, then all others.

The selection depends only on the seed and the changed lines, not on other code."""
import collections
import dataclasses
import hashlib
import itertools
import pathlib
import re
import subprocess
import time

import trial
from equivalent_mutants import EQUIVALENT
from mutant_sites import REMOVED_LOCK, Site, sites

NOTICED_PERCENT_MIN = 95
DEPENDENTS_MAX = 45  # objects to compile for a header
NOT_PICKED = {"kernels_neon.cpp"}  # not compiled here
# Each row gets the same number of mutants; subdirectories are not searched.
STRATA = (("code", "plan", "gf"), ("engine", "engine/run", "engine/devices"),
          ("backend", "backend/cpu"),
          ("store/io", "store/format", "store/tree", "store/find", "store/read"),
          ("store/write", "store/repair", "store/change", "store/identify", "ceph"),
          ("array", "array/format", "array/members", "array/state", "array/core"),
          ("array/service",), ("base",), ("ir",), ("opt",))
# Timing tests may fail on a busy machine, which would count as detection.
NOT_TIMED = ("-MultiDevice.SplitIs*:MultiDevice.DeviceSlowed*:MultiDevice.DeviceThatSettles*:"
             "MultiDevice.EquationsAreDealt*:MultiDevice.DealtEquations*")
TESTS = {folder: ("unit_engine/" + NOT_TIMED,)
         for folder in ("engine", "engine/run", "engine/devices")}
LOCK_TESTS = (trial.THREADS,)
PLAIN_LOOP = re.compile(r"for \((?:const )?[\w:]+ \w+ = 0; \w+ < [^;]*; \+\+\w+\)")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    site: Site
    occurrence: int  # among those of the file with the same line and operator

    @property
    def folder(self):
        return str(pathlib.PurePosixPath(self.file).parent.relative_to("src"))

    @property
    def is_lock(self):
        return self.site.operator == REMOVED_LOCK

    @property
    def tests(self):
        return LOCK_TESTS if self.is_lock else tests_of(self.folder)

    def planted(self, text):
        return text[:self.site.start] + self.site.new + text[self.site.end:]

    def __str__(self):
        return (f"{self.file}:{self.site.line}: {self.site.operator}: {self.site.before}"
                f"  ->  {self.site.after or '(nothing)'}")


def tests_of(folder):
    return TESTS.get(folder, ("unit_" + folder.split("/")[0],))


def mutants_of(file, text):
    counts = collections.Counter()
    result = []
    for site in sites(text, is_header=file.endswith(".hpp")):
        key = (site.before, site.operator)
        result.append(Mutant(file, site, counts[key]))
        counts[key] += 1
    return result


def hash_of(mutant, seed):
    words = (seed, mutant.file, mutant.site.before, mutant.site.operator, mutant.occurrence)
    return hashlib.sha256("\n".join(map(str, words)).encode()).digest()


def is_common(mutant):
    """True for a third of the constants and plain loops, which are frequent."""
    return mutant.site.operator == "constant + 1" or PLAIN_LOOP.match(mutant.site.before)


def by_rank(mutants, seed):
    ranked = sorted((hash_of(mutant, seed), mutant) for mutant in mutants)
    return [mutant for rank, mutant in ranked if not is_common(mutant) or rank[-1] % 3 == 0]


def key_of(mutant):
    return mutant.file, mutant.site.before, mutant.site.after


def files_of(folders, root):
    return sorted(path.relative_to(root).as_posix() for folder in folders
                  for path in (root / "src" / folder).iterdir()
                  if path.suffix in (".cpp", ".hpp") and path.name not in NOT_PICKED)


def without_twins(mutants):
    """One mutant per line; a second one adds little."""
    seen = set()
    for mutant in mutants:
        place = (mutant.file, mutant.site.line)
        if place not in seen:
            seen.add(place)
            yield mutant


def ranking(root, seed):
    """All mutants of src/ in trial order, one of each stratum in turn."""
    known = {(e.file, e.before, e.after) for e in EQUIVALENT}
    queues = []
    for folders in STRATA:
        mutants = [m for file in files_of(folders, root)
                   for m in mutants_of(file, (root / file).read_text())]
        queues.append(without_twins(m for m in by_rank(mutants, seed) if key_of(m) not in known))
    for row in itertools.zip_longest(*queues):
        yield from (mutant for mutant in row if mutant)


def check(root):
    """Messages about entries of equivalent_mutants.py that no longer apply."""
    messages = []
    for file, entries in itertools.groupby(sorted(EQUIVALENT, key=lambda e: e.file),
                                           key=lambda e: e.file):
        path = root / file
        known = {key_of(m) for m in mutants_of(file, path.read_text())} if path.exists() else set()
        messages += [f"{e.file}: no such random bug: {e.before!r} -> {e.after!r}"
                     for e in entries if (e.file, e.before, e.after) not in known]
    return messages


def dependents(folder, source):
    """How many objects include each header, according to the last build."""
    done = subprocess.run(["ninja", "-C", folder, "-t", "deps"], capture_output=True, text=True,
                          check=True)
    counts = collections.Counter()
    for line in done.stdout.splitlines():
        if line.startswith("    "):
            path = (folder / line.strip()).resolve()
            if path.is_relative_to(source):
                counts[path.relative_to(source).as_posix()] += 1
    return counts


def other_tests(mutant):
    """Tests to try if those of the directory detect nothing; none for a removed lock."""
    return [] if mutant.is_lock else [test for test in all_tests() if test not in mutant.tests]


def all_tests():
    return sorted({test for row in STRATA for folder in row for test in tests_of(folder)})


class Copies:
    """The copy of the repository and its builds; a TSan build only if a lock is removed."""

    def __init__(self, work):
        self.source = trial.copy(work)
        self.folders = {"dev": trial.prepare(self.source, "dev", all_tests())}
        self.dependents = dependents(self.folders["dev"], self.source)

    def folder_for(self, mutant):
        preset = "tsan" if mutant.is_lock else "dev"
        if preset not in self.folders:
            self.folders[preset] = trial.prepare(self.source, preset, mutant.tests)
        return self.folders[preset]


def run(count, seed, work):
    copies = Copies(work)
    noticed, survivors, skipped = 0, [], collections.Counter()
    for mutant in ranking(copies.source, seed):
        if noticed + len(survivors) == count:
            break
        if copies.dependents[mutant.file] > DEPENDENTS_MAX:
            skipped["in headers of many"] += 1
            continue
        started = time.monotonic()
        path, folder = copies.source / mutant.file, copies.folder_for(mutant)
        text = mutant.planted(path.read_text())
        try:
            test = next((test for tests in (mutant.tests, other_tests(mutant)) if tests
                         for test in [trial.noticed_by(path, text, folder, tests)] if test), "")
        except trial.DoesNotCompile:
            skipped["do not compile"] += 1
            continue
        noticed += bool(test)
        if not test:
            survivors.append(mutant)
        seconds = time.monotonic() - started
        print(f"{noticed + len(survivors):3}/{count} {seconds:5.0f} s  {mutant}: "
              f"{'noticed by ' + test if test else 'SURVIVED'}", flush=True)
    return report(noticed, survivors, skipped, seed)


def report(noticed, survivors, skipped, seed):
    tried = noticed + len(survivors)
    percent = 100 * noticed / tried if tried else 0
    for mutant in survivors:
        print(f"survived: {mutant}")
    for reason, count in sorted(skipped.items()):
        print(f"skipped: {count} {reason}")
    print(f"random bugs: {noticed} of {tried} noticed ({percent:.1f} %), seed {seed}; expected at "
          f"least {NOTICED_PERCENT_MIN} %")
    return 0 if percent >= NOTICED_PERCENT_MIN else 1
