#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation is true: commands run, examples compile and are the ones shown, links resolve.

Usage: docs_test.py REPOSITORY CALPE_BINARY QUICKSTART_CPP QUICKSTART_C GIBRALTAR
Fenced blocks tagged `console` are run: each line after `$ ` must exit with 0, or with the code in a
trailing `# exit N`; lines without `$ ` below it must appear in its output. Those of a tutorial
(docs/tutorial-*.md) run in an empty folder of its own, those of other documents in the repository.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
calpe = pathlib.Path(sys.argv[2])
errors = []


def documents():
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])


def run(command, folder=None):
    environment = dict(os.environ, PATH=f"{calpe.parent}:{os.environ['PATH']}")
    return subprocess.run(command, shell=True, capture_output=True, text=True, env=environment,
                          cwd=folder)


def run_blocks(document, folder):
    """How many commands were run."""
    count = 0
    for block in re.findall(r"```console\n(.*?)```", document.read_text(), re.S):
        shown = ""
        for line in block.splitlines():
            if not line.startswith("$ "):
                if line.strip() and line.strip() not in shown:
                    errors.append(f"{document.name}: not in the output: {line}")
                continue
            command, _, expected = line[2:].partition("# exit ")
            result = run(command, folder)
            shown = result.stdout + result.stderr
            count += 1
            if result.returncode != int(expected or 0):
                errors.append(f"{document.name}: {command}: exit {result.returncode}\n{shown}")
    return count


def check_console_blocks():
    count = 0
    for document in documents():
        if document.name == "tutorial-array.md" and "CALPE_NBDKIT_PLUGIN" not in os.environ:
            print("tutorial-array.md is not run: the plugin was not built")
        elif document.name.startswith("tutorial-"):
            with tempfile.TemporaryDirectory() as folder:
                count += run_blocks(document, folder)
        else:
            count += run_blocks(document, None)
    if count < 5:
        errors.append(f"only {count} console commands found: the pattern does not match any more")
    return count


def check_example_is_shown():
    text = (root / "examples/quickstart.cpp").read_text().split("\n", 2)[2].rstrip("\n")
    if text not in (root / "README.md").read_text():
        errors.append("README.md does not show examples/quickstart.cpp as it is")
    for binary, said in ((sys.argv[3], "rebuilt 3 of 3"), (sys.argv[4], "rebuilt 2 of 2"),
                         (sys.argv[5], "recovered 2 data buffers, 0 wrong")):
        result = subprocess.run([binary], capture_output=True, text=True)
        if result.returncode != 0 or said not in result.stdout:
            errors.append(f"{binary}: exit {result.returncode}, said {result.stdout!r}")


def check_links():
    for document in documents():
        for target in re.findall(r"\]\(([^)#:]+?)\)", document.read_text()):
            if not (document.parent / target).exists():
                errors.append(f"{document.name}: link to {target} leads nowhere")


def check_man_pages():
    """Each subcommand has --help with an example and a man page without groff warnings."""
    verbs = re.findall(r"^  ([a-z]+) {2,}", run("calpe --help").stdout, re.M)
    if len(verbs) < 3:
        errors.append(f"only the verbs {verbs} found in calpe --help")
    for verb in verbs:
        if "example" not in run(f"calpe {verb} --help").stdout.lower():
            errors.append(f"calpe {verb} --help has no example")
        if not (root / f"man/calpe-{verb}.1").exists():
            errors.append(f"man/calpe-{verb}.1 is missing")
    for page in sorted(root.glob("man/*.1")):
        warnings = run(f"groff -man -ww -z -Tutf8 {page}").stderr
        if warnings:
            errors.append(f"{page.name}: {warnings}")


commands = check_console_blocks()
check_example_is_shown()
check_links()
check_man_pages()
print("\n".join(errors) or f"{commands} commands of the documentation ran")
sys.exit(bool(errors))
