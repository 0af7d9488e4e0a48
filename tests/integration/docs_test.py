#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation, compiles its examples and follows its links.

Usage: docs_test.py REPOSITORY BUILD_FOLDER CALPE_BINARY EXAMPLES_FOLDER [--update] [DOCUMENT...]
`console` blocks are run (console.py), those of each document in an empty directory of its own. The
build is installed into /usr/local, and its nbdkit plugin next to the other plugins, as the
documents say. This happens in a mount namespace, so that the machine does not change; without the
right to make one the test is skipped (77). --update rewrites the blocks whose output has changed.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from console import Shell, blocks, update

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "remote"))
from clouds import Clouds, has_rclone  # noqa: E402  pylint: disable=wrong-import-position

is_update = "--update" in sys.argv
root, build, calpe, examples, *only = (
    pathlib.Path(argument).resolve() for argument in sys.argv[1:] if argument != "--update")
errors = []

# Directories of the repository that documents use. Tutorials begin with an empty directory.
CLONE = ["examples", "bench"]
TUTORIALS_IN_CLONE = ["tutorial-research.md"]
# Variables that change what Calpe or a compiler does; a reader has none of them.
FOREIGN = re.compile(r"CALPE_|LD_|PKG_CONFIG|CMAKE_|C(C|XX|FLAGS|XXFLAGS)$|LDFLAGS$")
# name of an example's program: arguments, what it says
EXAMPLES = {
    "calpe_example_quickstart_cpp": ([], "rebuilt 2 of 2"),
    "calpe_example_quickstart_c": ([], "rebuilt 2 of 2"),
    "calpe_example_object_store_cpp": (["{folder}/store"], "find a wrong byte on disk 3: ok"),
    "calpe_example_streams_cpp": (["{root}/README.md", "{folder}/shards"],
                                  "read it back without shards 1 and 4"),
    "calpe_example_batch_c": ([], "rebuilt 128 shards, 0 wrong"),
    "calpe_example_gibraltar_c": ([], "recovered 2 data buffers, 0 wrong"),
    "calpe_example_opencl_queue_c": ([], "encoded in the queue of the program, as without it"),
}


def documents():
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])


def enter_namespace():
    """Runs this script again where /usr/local, /etc and nbdkit's plugins may be changed."""
    if os.environ.get("DOCS_TEST_INSIDE"):
        return
    unshare = ["unshare", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: cannot make a mount namespace; run it as root")
        sys.exit(77)
    sys.exit(subprocess.run([*unshare, sys.executable, "-B", *sys.argv], check=False,
                            env=dict(os.environ, DOCS_TEST_INSIDE="1")).returncode)


def run_quietly(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def plugin_folder():
    """Where nbdkit looks for plugins, or None without nbdkit or without a plugin to install."""
    if "CALPE_NBDKIT_PLUGIN" not in os.environ or shutil.which("nbdkit") is None:
        return None
    config = subprocess.run(["nbdkit", "--dump-config"], capture_output=True, text=True, check=True)
    return pathlib.Path(re.search(r"^plugindir=(.*)$", config.stdout, re.M)[1])


def install(layers):
    """Installs the build as docs/install.md says, on top of what is there."""
    run_quietly("mount", "-t", "tmpfs", "tmpfs", layers)
    plugins = plugin_folder()
    for number, target in enumerate(filter(None, ["/usr/local", "/etc", plugins])):
        upper, work = layers / f"upper{number}", layers / f"work{number}"
        upper.mkdir()
        work.mkdir()
        run_quietly("mount", "-t", "overlay", "overlay", "-o",
                    f"lowerdir={target},upperdir={upper},workdir={work}", target)
    run_quietly("cmake", "--install", build, "--prefix", "/usr/local", "--strip")
    run_quietly("ldconfig")
    if plugins:
        run_quietly("cmake", "--install", build, "--prefix", "/usr", "--component", "nbdkit")


def reader_environment():
    return {name: value for name, value in os.environ.items()
            if not FOREIGN.match(name) and name != "DOCS_TEST_INSIDE"}


@contextlib.contextmanager
def clouds_for(document):
    """Variables that make the providers of tutorial-remotes.md servers on loopback."""
    if document.name != "tutorial-remotes.md":
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        clouds = Clouds(folder)
        yield clouds.environment
        clouds.close()


def run_once(document):
    with tempfile.TemporaryDirectory() as folder:
        if not document.name.startswith("tutorial-") or document.name in TUTORIALS_IN_CLONE:
            for name in CLONE:
                pathlib.Path(folder, name).symlink_to(root / name)
        shell = Shell(folder, reader_environment())
        with clouds_for(document) as variables:
            shell.environment.update(variables)
            shell.run_document(document)
    return shell


def run_document(document):
    if document.name == "tutorial-array.md" and plugin_folder() is None:
        print("tutorial-array.md is not run: the plugin was not built")
        return 0
    if document.name == "tutorial-ceph.md":
        print("tutorial-ceph.md is run by ceph_cluster_whole")
        return 0
    if document.name == "tutorial-remotes.md" and not has_rclone():
        print("tutorial-remotes.md is not run: there is no rclone")
        return 0
    shell = run_once(document)
    if is_update and shell.errors and not shell.failed:
        update(document, shell.outputs, run_once(document).outputs)
        shell = run_once(document)
    errors.extend(shell.errors)
    return shell.count


def check_commands():
    with tempfile.TemporaryDirectory() as folder:
        install(pathlib.Path(folder))
        count = sum(run_document(document) for document in only or documents())
        run_quietly("umount", "--lazy", folder)
    if count < 100 and not only:
        errors.append(f"only {count} console commands found: the pattern does not match any more")
    return count


def check_examples():
    lines = [line.strip() for line in (root / "examples/quickstart.cpp").read_text().splitlines()]
    for kind, _, text in blocks(root / "README.md"):
        if kind == "cpp" and "\n".join(map(str.strip, text.splitlines())) not in "\n".join(lines):
            errors.append("README.md: the C++ code is not a part of examples/quickstart.cpp")
    sources = {path.name.replace(".", "_") for path in root.glob("examples/*.c*")}
    if {f"calpe_example_{name}" for name in sources} != set(EXAMPLES):
        errors.append(f"examples are {sources}, this test runs {sorted(EXAMPLES)}")
    for name, (arguments, said) in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            arguments = [argument.format(folder=folder, root=root) for argument in arguments]
            result = subprocess.run([examples / name, *arguments], capture_output=True, text=True,
                                    check=False)
        if result.returncode != 0 or said not in result.stdout:
            errors.append(f"{name}: exit {result.returncode}, said {result.stdout!r} "
                          f"{result.stderr!r}")


def check_charts():
    """docs/charts has pictures that `calpe report` draws of the kept runs."""
    with tempfile.TemporaryDirectory() as folder:
        # The full run is last: charts of both have the same names.
        for result in ("wide.json", "full.json"):
            run_quietly(calpe, "report", root / "bench/results" / result, "-o", folder)
        for chart in sorted(root.glob("docs/charts/*.svg")):
            drawn = pathlib.Path(folder, chart.name).read_text()
            if is_update:
                chart.write_text(drawn)
            elif chart.read_text() != drawn:
                errors.append(f"docs/charts/{chart.name} is not what calpe report draws: --update")


def check_links():
    for document in documents():
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", document.read_text()):
            if not (document.parent / target).exists():
                errors.append(f"{document.name}: link to {target} leads nowhere")


enter_namespace()
commands = check_commands()
check_examples()
check_charts()
check_links()
print("\n".join(errors) or f"{commands} commands and {len(EXAMPLES)} examples ran")
sys.exit(bool(errors))
