#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs documents command by command in the root that tutorials.sh made.

Usage: run.py ROOT [DOCUMENT...]
Each document has one login shell of the user `reader`, so that `cd` and `export` last. `sh` blocks
are run in the clone, `console` blocks in a new directory (console.py), those of tutorial-research
in the clone, as it says. README.md shows its `console` block before it installs Calpe, so its `sh`
blocks are run first. tutorial-ceph needs a cluster: after its `sh` blocks, end_to_end.py starts one
with the installed plugin and runs the rest.
"""
import pathlib
import re
import select
import shlex
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/integration"))
from console import Shell, blocks  # noqa: E402

# In this order: README.md installs, tutorials add plugins, install.md uninstalls.
DOCUMENTS = ["README.md", "docs/tutorial-files.md", "docs/tutorial-embed.md",
             "docs/tutorial-research.md", "docs/tutorial-array.md", "docs/tutorial-ceph.md",
             "docs/install.md"]
CLONE = "calpe"
IN_CLONE = ["tutorial-research.md"]
SECONDS_MAX = 7200
# Reads commands that end with NUL; answers each with its output, NUL, exit code and NUL.
LOOP = r"""while IFS= read -r -d '' command; do
  eval "$command" </dev/null 2>&1
  printf '\0%d\0' "$?"
done"""
ANSWER = re.compile(rb"(.*)\0(\d+)\0\Z", re.S)
CLUSTER_PACKAGES = "ceph-mon ceph-mgr ceph-common python3-rados"
PLUGINS = "/usr/lib/x86_64-linux-gnu/ceph/erasure-code"
CLUSTER = (f"sudo /usr/bin/python3 -B tests/integration/ceph/end_to_end.py tutorial "
           f"{PLUGINS}/libec_calpe.so {PLUGINS} $(command -v calpe)")


class Reader(Shell):
    """A login shell of the user `reader` in the root."""

    def __init__(self, root, folder):
        super().__init__(root / "home/reader" / folder, None)
        self.name = folder
        self.process = subprocess.Popen(
            ["chroot", root, "/usr/bin/env", "-i", "LANG=C.UTF-8", "/usr/sbin/runuser",
             "-l", "reader", "-c", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def run(self, command):
        started = time.monotonic()
        self.process.stdin.write(command.encode() + b"\0")
        output = b""
        while not (answer := ANSWER.match(output)):
            rest = started + SECONDS_MAX - time.monotonic()
            if not select.select([self.process.stdout], [], [], max(rest, 0))[0]:
                sys.exit(f"{command}: not done after {SECONDS_MAX} s\n{output.decode()}")
            if not (piece := self.process.stdout.read(65536)):
                sys.exit(f"{command}: the shell ended\n{output.decode()}")
            output += piece
        if time.monotonic() - started > 10:
            print(f"{time.monotonic() - started:6.0f} s  {command.strip()}", flush=True)
        return int(answer[2]), answer[1].decode(errors="replace")

    def run_lines(self, text):
        """Runs the commands of an `sh` block in the clone; each must succeed."""
        self.run(f"cd ~/{CLONE}")
        for command in re.sub(r"\\\n\s*", "", text).splitlines():
            if not command.strip():
                continue
            code, output = self.run(command)
            self.count += 1
            if code != 0:
                self.failed += 1
                self.errors.append(f"{self.name}: {command}: exit code {code}\n{output[-3000:]}")
        self.run(f"cd ~/{shlex.quote(self.name)}")


def run_document(root, document):
    is_ceph = document.name == "tutorial-ceph.md"
    folder = CLONE if document.name in IN_CLONE else document.stem
    shell = Reader(root, folder)
    shell.run(f"mkdir -p ~/{folder} && cd ~/{folder}")
    found = list(blocks(document))
    if document.name == "README.md":
        found.sort(key=lambda block: block[0] != "sh")
    for kind, saved, text in found:
        if kind == "sh":
            shell.run_lines(text)
        elif kind == "console" and not is_ceph:
            shell.run_block(document.name, text)
        elif saved:
            (shell.folder / saved).write_text(text)
    if is_ceph:
        shell.run_lines(f"sudo apt-get install -y -qq --no-install-recommends {CLUSTER_PACKAGES}\n"
                        f"{CLUSTER}\n")
    print(f"{document.name}: {shell.count} commands, {len(shell.errors)} wrong", flush=True)
    print("\n".join(shell.errors), flush=True)
    return not shell.errors


def main():
    root, *only = sys.argv[1:]
    clone = pathlib.Path(root, "home/reader", CLONE)
    results = [run_document(pathlib.Path(root), clone / name) for name in only or DOCUMENTS]
    return 0 if all(results) else 1


sys.exit(main())
