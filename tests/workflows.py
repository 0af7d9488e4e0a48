#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the workflows in .github match .ci: same jobs, existing scripts, pinned actions.

Usage: workflows.py [repository]
Each run also plants errors in small samples, and expects them to be found.
actionlint checks the syntax; it is not part of Debian 12, so run it by hand after a change.
"""
import os
import pathlib
import re
import sys

# A line of .ci/run: jobs=(dev asan tsan)
JOBS_OF_SCRIPT = re.compile(r"^jobs=\(([^)]*)\)", re.MULTILINE)
# A line of ci.yml: job: [dev, asan, tsan]
JOBS_OF_MATRIX = re.compile(r"^ +job: \[([^\]]*)\]", re.MULTILINE)
# Each workflow runs the jobs of one script.
SCRIPT_OF = {"ci.yml": ".ci/run", "nightly.yml": ".ci/nightly"}
IMAGE = "debian:12"


def words(pattern, text):
    found = pattern.search(text)
    return sorted(re.split(r"[\s,]+", found[1].strip())) if found else []


def job_problems(name, script, workflow):
    path = SCRIPT_OF[name]
    ours, theirs = words(JOBS_OF_SCRIPT, script), words(JOBS_OF_MATRIX, workflow)
    if not ours:
        yield f"{path} has no line 'jobs=(...)', so its jobs cannot be compared with {name}"
    elif ours != theirs:
        yield (f"{name} runs the jobs {' '.join(theirs) or '(none)'}, {path} has "
               f"{' '.join(ours)}; make both lists equal")
    command = f"{path} --job ${{{{ matrix.job }}}}"
    if not re.search(rf"run: {re.escape(command)}$", workflow, re.MULTILINE):
        yield f"{name} does not run '{command}'"


def workflow_problems(name, workflow, is_script):
    """Rules for every workflow. is_script(path): whether it is an executable file."""
    for action in re.findall(r"uses: *(\S+)", workflow):
        if not re.fullmatch(r"[\w./-]+@(v\d+(\.\d+)*|[0-9a-f]{40})", action):
            yield f"{name} uses {action}; pin it by version, such as actions/checkout@v4"
    for image in re.findall(r"image: *(\S+)", workflow) or ["none"]:
        if image != IMAGE:
            yield f"{name} runs in the image {image}; expected {IMAGE}, as .ci/install does"
    for path in re.findall(r"run: *(\.ci/\S+)", workflow):
        if not is_script(path):
            yield f"{name} runs {path}, which is not an executable file"


def problems(scripts, workflows, is_script):
    """scripts: the text of each script by its path."""
    for name, path in SCRIPT_OF.items():
        yield from job_problems(name, scripts[path], workflows[name])
    for name, workflow in workflows.items():
        yield from workflow_problems(name, workflow, is_script)


# Small samples without an error, for the planted ones.
SCRIPTS = {".ci/run": "jobs=(dev asan)\n", ".ci/nightly": "jobs=(bugs)\n"}
CLEAN = {
    "ci.yml": """
        job: [asan, dev]
      image: debian:12
      - uses: actions/checkout@v4
      - name: Run
        run: .ci/run --job ${{ matrix.job }}
""",
    "nightly.yml": """
        job: [bugs]
      image: debian:12
      - run: .ci/nightly --job ${{ matrix.job }}
""",
}
# file, its text, replacement; expected message
PLANTED = [
    ("ci.yml", "[asan, dev]", "[dev]", "ci.yml runs the jobs dev, .ci/run has asan dev"),
    ("ci.yml", "[asan, dev]", "[asan, dev, more]", "make both lists equal"),
    ("ci.yml", "job: [", "jobs: [", "ci.yml runs the jobs (none)"),
    ("ci.yml", " --job ${{ matrix.job }}", "", "ci.yml does not run '.ci/run --job"),
    ("ci.yml", "checkout@v4", "checkout@main", "pin it by version"),
    ("ci.yml", "checkout@v4", "checkout", "pin it by version"),
    ("ci.yml", "debian:12", "debian:13", "ci.yml runs in the image debian:13"),
    ("nightly.yml", "image: debian:12", "", "nightly.yml runs in the image none"),
    ("nightly.yml", "run: .ci/nightly", "run: make", "does not run '.ci/nightly --job"),
    ("nightly.yml", "[bugs]", "[bugs, more]", "nightly.yml runs the jobs bugs more, .ci"),
    ("nightly.yml", "- run:", "- run: .ci/gone\n      - run:", "runs .ci/gone, which is not an"),
]


def selftest_problems():
    def is_script(path):
        return path in (".ci/run", ".ci/nightly")

    found = list(problems(SCRIPTS, CLEAN, is_script))
    if found:
        yield f"selftest: the samples without an error: {found}"
    for name, old, new, message in PLANTED:
        planted = {**CLEAN, name: CLEAN[name].replace(old, new)}
        found = list(problems(SCRIPTS, planted, is_script))
        if len(found) != 1 or message not in found[0]:
            yield f"selftest: '{new}' in {name}: expected '{message}', found {found}"
    for path in SCRIPTS:
        found = list(problems({**SCRIPTS, path: ""}, CLEAN, is_script))
        if len(found) != 1 or f"{path} has no line 'jobs=" not in found[0]:
            yield f"selftest: {path} without jobs: found {found}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    folder = root / ".github/workflows"
    workflows = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.y*ml")}
    scripts = {path: (root / path).read_text(encoding="utf-8") for path in SCRIPT_OF.values()}

    def is_script(path):
        return os.access(root / path, os.X_OK)

    found = [*problems(scripts, workflows, is_script), *selftest_problems()]
    jobs = " ".join(word for script in scripts.values() for word in words(JOBS_OF_SCRIPT, script))
    print("\n".join(found) or f"workflows: {len(workflows)} files, jobs {jobs}, "
          f"{len(PLANTED) + len(SCRIPTS)} planted errors found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
