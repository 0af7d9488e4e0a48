#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the source archive of a release without git: source_archive_test.py DIR

Packs the last commit as packaging/release.py does, unpacks it in DIR, builds the core there and
runs its unit tests. Then it configures everything and runs the checks of the repository. A program
`git` that fails is first in PATH, and reports each use.
"""
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import release  # noqa: E402

VERSION = release.first(r"^project\(calpe VERSION ([0-9.]+)", "CMakeLists.txt")
OPTIONS = ("-DCALPE_UNITY=ON", "-DCALPE_RUN_ONCE=ON")


def expect(good, what, detail=""):
    if not good:
        print(f"source_archive: {what}\n{str(detail)[-4000:]}")
        sys.exit(1)


class Build:
    """Runs commands in the unpacked archive, without a usable git."""

    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        programs = folder / "programs"
        programs.mkdir(parents=True)
        self.calls = folder / "git-calls"
        (programs / "git").write_text(f'#!/bin/sh\necho "$@" >>"{self.calls}"\nexit 127\n')
        (programs / "git").chmod(0o755)
        with tarfile.open(fileobj=io.BytesIO(release.source_archive(VERSION))) as archive:
            archive.extractall(folder)
        self.source = folder / f"calpe-{VERSION}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment = kept | {"PATH": f"{programs}:{kept['PATH']}", "CALPE_CACHE_DIR": ""}

    def must(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.source,
                              env=self.environment, timeout=3600, check=False)
        expect(done.returncode == 0, f"{' '.join(command)} failed", done.stdout + done.stderr)
        return done.stdout


def main():
    build = Build(pathlib.Path(sys.argv[1]).resolve())
    expect(not (build.source / ".git").exists(), "the archive has a directory .git")
    build.must("cmake", "--preset", "dev", "-B", "build/core", "-DCALPE_CORE_ONLY=ON", *OPTIONS)
    build.must("cmake", "--build", "build/core", "--target", "calpe", "calpe_static", "tests_unit")
    summary = build.must("ctest", "--test-dir", "build/core", "--output-on-failure", "-L", "unit")
    tests = re.search(r"0 tests failed out of (\d+)", summary)
    expect(tests and int(tests[1]) > 10, "unit tests", summary)
    expect(not build.calls.exists(), "the build of the core calls git",
           build.calls.exists() and build.calls.read_text())
    build.must("cmake", "--preset", "dev", *OPTIONS)
    lint = build.must("ctest", "--test-dir", "build/dev", "--output-on-failure", "-L", "lint")
    skipped = re.findall(r"(\w+) \(Skipped\)", lint)
    print(f"source_archive: {tests[1]} test programs; without git, these are skipped: "
          f"{', '.join(skipped) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
