# SPDX-License-Identifier: Apache-2.0
"""Documents as scripts: their `console` blocks are run, the files that they tell to save are saved.

In a block each line after `$ ` must exit with 0, or with the code in a trailing `# exit N`; lines
without `$ ` below it must appear in its output. A block of another kind that follows "save as
`NAME`:" (or "and as `NAME`") is written to that file.
"""
import pathlib
import re
import subprocess

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
SAVED = re.compile(r"(?:[Ss]ave as|and as) `([\w.]+)`[^`]*\Z")


def blocks(document):
    """(kind, file to save or None, text) of each fenced block, in order."""
    text, end = document.read_text(), 0
    for found in FENCED.finditer(text):
        saved = SAVED.search(text[end:found.start()].strip().rsplit("\n\n", 1)[-1])
        yield found[1], saved and saved[1], found[2]
        end = found.end()


class Shell:
    """Runs commands in a folder; errors are collected, one text each."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.count, self.errors = 0, []

    def run(self, command):
        """Exit code and output."""
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False,
                              env=self.environment, cwd=self.folder, timeout=200,
                              errors="replace")
        return done.returncode, done.stdout + done.stderr

    def run_block(self, name, text):
        shown = ""
        for line in text.splitlines():
            if not line.startswith("$ "):
                if line.strip() and line.strip() not in shown:
                    self.errors.append(f"{name}: not in the output: {line}\nwhich is: {shown}")
                continue
            command, _, expected = line[2:].partition("# exit ")
            code, shown = self.run(command)
            self.count += 1
            if code != int(expected or 0):
                self.errors.append(f"{name}: {command}: exit {code}\n{shown}")

    def run_document(self, document):
        for kind, saved, text in blocks(document):
            if kind == "console":
                self.run_block(document.name, text)
            elif saved:
                pathlib.Path(self.folder, saved).write_text(text)
