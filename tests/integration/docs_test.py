#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation is true: commands run, examples compile and are the ones shown, links resolve.

Usage: docs_test.py REPOSITORY BUILD_FOLDER CALPE_BINARY EXAMPLES_FOLDER
`console` blocks are run (console.py): those of a tutorial (docs/tutorial-*.md) in an empty folder
of its own, with the library installed into another; those of other documents in the repository.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from console import Shell

root, build, calpe, examples = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
errors = []

# What a tutorial takes for granted, from the root of the repository.
CLONE = {"tutorial-research.md": ["examples", "bench"]}
# name of an example's program: arguments, what it says
EXAMPLES = {
    "calpe_example_quickstart_cpp": ([], "rebuilt 2 of 2"),
    "calpe_example_quickstart_c": ([], "rebuilt 2 of 2"),
    "calpe_example_object_store_cpp": (["{folder}/store"], "find a wrong byte on disk 3: ok"),
    "calpe_example_batch_c": ([], "rebuilt 128 shards, 0 wrong"),
    "calpe_example_gibraltar_c": ([], "recovered 2 data buffers, 0 wrong"),
}


def documents():
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])


def installed(prefix):
    """The environment of somebody who has installed this build there."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                   capture_output=True)
    libraries = next(prefix.rglob("calpe.pc")).parent
    return dict(os.environ, PATH=f"{calpe.parent}:{os.environ['PATH']}",
                PKG_CONFIG_PATH=str(libraries), LD_LIBRARY_PATH=str(libraries.parent),
                CMAKE_PREFIX_PATH=str(prefix))


def run_document(document, environment):
    if document.name == "tutorial-array.md" and "CALPE_NBDKIT_PLUGIN" not in os.environ:
        print("tutorial-array.md is not run: the plugin was not built")
        return 0
    if document.name == "tutorial-ceph.md":
        print("tutorial-ceph.md is run by ceph_cluster_whole")
        return 0
    if not document.name.startswith("tutorial-"):
        shell = Shell(root, environment)
        shell.run_document(document)
    else:
        with tempfile.TemporaryDirectory() as folder:
            for name in CLONE.get(document.name, []):
                pathlib.Path(folder, name).symlink_to(root / name)
            shell = Shell(folder, environment)
            shell.run_document(document)
    errors.extend(shell.errors)
    return shell.count


def check_commands():
    with tempfile.TemporaryDirectory() as folder:
        environment = installed(pathlib.Path(folder))
        count = sum(run_document(document, environment) for document in documents())
    if count < 100:
        errors.append(f"only {count} console commands found: the pattern does not match any more")
    return count


def check_examples():
    text = (root / "examples/quickstart.cpp").read_text().split("\n", 2)[2].rstrip("\n")
    if text not in (root / "README.md").read_text():
        errors.append("README.md does not show examples/quickstart.cpp as it is")
    sources = {path.name.replace(".", "_") for path in root.glob("examples/*.c*")}
    if {f"calpe_example_{name}" for name in sources} != set(EXAMPLES):
        errors.append(f"examples are {sources}, this test runs {sorted(EXAMPLES)}")
    for name, (arguments, said) in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            arguments = [argument.format(folder=folder) for argument in arguments]
            result = subprocess.run([examples / name, *arguments], capture_output=True, text=True,
                                    check=False)
        if result.returncode != 0 or said not in result.stdout:
            errors.append(f"{name}: exit {result.returncode}, said {result.stdout!r} "
                          f"{result.stderr!r}")


def check_links():
    for document in documents():
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", document.read_text()):
            if not (document.parent / target).exists():
                errors.append(f"{document.name}: link to {target} leads nowhere")


commands = check_commands()
check_examples()
check_links()
print("\n".join(errors) or f"{commands} commands and {len(EXAMPLES)} examples ran")
sys.exit(bool(errors))
