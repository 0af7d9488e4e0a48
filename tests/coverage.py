#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Branch coverage of the codec and of the formats: coverage.py BUILD

BUILD is the directory of the preset `coverage`. Runs its tests, prints the covered branches and
fails if either group is below PERCENT_MIN. A branch is one outcome, true or false, of one condition
in the source, as clang counts them. Every operand of && and || has two. Each use of a macro such as
CALPE_TRY counts separately; instances of a template count once. Exception edges are not conditions.
Only assertions are excluded.

  coverage.py BUILD --missing TEXT   also lists uncovered branches in files whose path has TEXT
  coverage.py BUILD --again          evaluates the last run, without running tests
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PERCENT_MIN = 95.0
# Code that decides whether bytes are right: fields, codes, plans, engine and C ABI.
CODEC = ("src/gf/", "src/code/", "src/plan/", "src/engine/", "src/capi/")
# Excluded: devices behind drivers, which tests/devices covers.
DEVICES = ("src/capi/capi_device_memory", "src/capi/capi_queue_plan", "src/engine/device_",
           "src/engine/devices/", "src/engine/queue_plan",
           "src/engine/run/device_copy", "src/engine/run/staging")
# Code that reads and writes formats.
FORMATS = (
    "src/ir/text_form", "src/kernel_cache/", "src/base/files.", "src/base/settings_file",
    "src/base/uuid", "src/ceph/profile", "src/store/find/redo_journal",
    "src/store/find/apply_journal", "src/store/find/journaled_file", "src/store/write/checkpoint",
    *(f"src/store/format/{name}" for name in (
        "block_checksum", "geometry", "manifest", "redo_layout", "root_hash", "shard_header")),
    "src/array/state/checksum_table", "src/array/state/log_",
    *(f"src/array/format/{name}" for name in (
        "block_check", "member_format", "index", "layout", "log_", "superblock")),
)
GROUPS = {"codec": CODEC, "formats": FORMATS}
ASSERTIONS = "src/base/assert.hpp"
# Tests that are too slow in an instrumented build. Branches that only they cover count as
# uncovered.
LEFT_OUT = (
    "CauchySolver.RowsAreExact*", "LchTransform.DecodesEveryKindOfLoss", "Transform.*",
    "RegisterPlan.*", "MultiDevice.*", "DeviceChoice.*", "*CodecSubmit.Outlives*",
    "CephIdentify.*", "CephObject.*", "CephExport.*", "Identify.*",
    "Geometry.OffsetsMatchAWalk", "Manifest.many_entries*", "NewGenerationFaults.*",
    "*UpdateFaults.*", "*ProtectFaults.*", "Protect.EveryByte*", "Protect.LargeBlocks*",
    "Protect.ThreadsWrite*", "Protect.WideStripes", "*RestoreLost.*", "TreeRestoreResume.*",
    "RepairFailure.*", "*AddParity*")

# Outcomes of a condition: [times true, times false]
Conditions = dict[tuple, list]


def run_tests(build, profiles):
    shutil.rmtree(profiles, ignore_errors=True)
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(profiles / "%m.profraw"),
                   "GTEST_FILTER": "-" + ":".join(LEFT_OUT)}
    done = subprocess.run(
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-j",
         str(os.cpu_count()), "-L", "^coverage$"], env=environment, check=False)
    if done.returncode != 0:
        sys.exit("coverage: a test failed")


def exported(build, profiles):
    merged = profiles / "all.profdata"
    subprocess.run(["llvm-profdata-14", "merge", "-o", merged, *profiles.glob("*.profraw")],
                   check=True)
    # All of both libraries, including objects that no test links.
    binaries = [build / "src/libcalpe.so",
                *(member for library in ("store/libcalpe_store.a", "ceph/libcalpe_ceph_objects.a",
                                         "array/libcalpe_array.a")
                  for member in members_of(build / "src" / library,
                                            profiles / pathlib.Path(library).stem))]
    arguments = [word for binary in binaries for word in ("--object", binary)]
    done = subprocess.run(["llvm-cov-14", "export", "--instr-profile", merged, *arguments[1:]],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["data"][0]["functions"]


def members_of(archive, folder):
    """Extracts the members of an archive. Inside an archive they may be unaligned, and llvm-cov 14
    then reports malformed coverage."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run(["ar", "xo", "--output", folder, archive], check=True)
    names = subprocess.run(["ar", "t", archive], capture_output=True, text=True, check=True)
    objects = sorted(folder.iterdir())
    if len(objects) != len(names.stdout.split()):
        sys.exit(f"coverage: {archive} has two members with the same name; expected unique names")
    return objects


def place_of(function, file_id, position):
    """Position in the source; for a macro, the position of its use. None for assertions."""
    inside = []
    while True:
        if function["filenames"][file_id].endswith(ASSERTIONS):
            return None
        # regions: [line, column, end line, end column, count, file, expanded file, kind]
        use = next((r for r in function["regions"] if r[7] == 1 and r[6] == file_id), None)
        if use is None:
            return (function["filenames"][file_id], *position, *inside)
        inside = [*position, *inside]
        file_id, position = use[5], use[0:2]


def conditions_of(functions):
    """By file: {(line, column ..): [true, false]}. Merges template instances and headers that
    several files include."""
    files = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for function in functions:
        for line, column, _, end, is_true, is_false, file_id, *_ in function["branches"]:
            where = place_of(function, file_id, [line, column])
            if where is None:
                continue
            counts = files[where[0]][(*where[1:], end)]
            counts[0] += is_true
            counts[1] += is_false
    return files


def taken_of(conditions: Conditions):
    """(covered, all)"""
    outcomes = [count > 0 for counts in conditions.values() for count in counts]
    return sum(outcomes), len(outcomes)


def percent(taken, count):
    return 100.0 if count == 0 else 100.0 * taken / count


def list_missing(files, text):
    for file in sorted(files):
        if text not in file:
            continue
        lines = pathlib.Path(ROOT, file).read_text(encoding="utf-8").splitlines()
        for place, counts in sorted(files[file].items()):
            for name, count in zip(("true", "false"), counts):
                if count == 0:
                    print(f"{file}:{place[0]}:{place[1]}: never {name}: "
                          f"{lines[place[0] - 1].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--missing", metavar="TEXT")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    profiles = build / "profiles"
    if not arguments.again:
        run_tests(build, profiles)
    files = {os.path.relpath(file, ROOT): conditions
             for file, conditions in conditions_of(exported(build, profiles)).items()}
    if arguments.missing is not None:
        list_missing(files, arguments.missing)
    is_enough = True
    for group, beginnings in GROUPS.items():
        own = {file: taken_of(files[file]) for file in sorted(files)
               if file.startswith(beginnings) and not file.startswith(DEVICES)}
        for file, (taken, count) in own.items():
            print(f"{percent(taken, count):6.1f} %  {taken:5} of {count:5}  {file}")
        taken, count = (sum(counts) for counts in zip(*own.values()))
        print(f"coverage of {group}: {taken} of {count} branches, {percent(taken, count):.1f} %, "
              f"expected {PERCENT_MIN:.0f} %")
        is_enough = is_enough and percent(taken, count) >= PERCENT_MIN
    return 0 if is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
