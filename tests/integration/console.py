# SPDX-License-Identifier: Apache-2.0
"""Runs the `console` blocks of a document and saves the files that it tells the reader to save.

Each line after `$ ` must exit with 0, or with the code in a trailing `# exit N`; a trailing `\\`
continues it on the next line. The lines below it are its whole output, standard error included, as
a terminal shows it:
  - a line `...` stands for one or more lines that are left out;
  - `...` inside a line, but not at its start, stands for text that differs from run to run;
  - blank lines, trailing spaces and the digits of identifiers and times do not count.
A block of another kind that follows "save as `NAME`:" (or "and as `NAME`") is written to that file.
"""
import pathlib
import re
import subprocess

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
SAVED = re.compile(r"(?:[Ss]ave (?:it )?as|and as)\s`([\w.]+)`[^`]*\Z")
GAP = "..."
RANDOM = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|"
                    r"\b[0-9a-f]{64}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|"
                    r"(?<=set )[0-9a-f]{8}\b")
SHORT = 6  # lines of output that update() shows in full


def blocks(document):
    """(kind, file to save or None, text) of each fenced block, in order."""
    text, end = document.read_text(), 0
    for found in FENCED.finditer(text):
        saved = SAVED.search(text[end:found.start()].strip().rsplit("\n\n", 1)[-1])
        yield found[1], saved and saved[1], found[2]
        end = found.end()


def commands(text):
    """[(lines of the command as shown, lines expected below it)] of a console block."""
    found, continues = [], False
    for line in text.splitlines():
        if continues:
            found[-1][0].append(line)
        elif line.startswith("$ "):
            found.append(([line], []))
        elif line.strip() and found:
            found[-1][1].append(line.rstrip())
        elif line.strip():
            raise ValueError(f"output before the first command: {line}")
        continues = (continues or line.startswith("$ ")) and line.endswith("\\")
    return found


def line_matches(expected, line):
    expected, line = RANDOM.sub("ID", expected), RANDOM.sub("ID", line)
    if GAP not in expected or expected.startswith(GAP):
        return expected == line
    return re.fullmatch(".+".join(map(re.escape, expected.split(GAP))), line) is not None


def aligned(expected, lines):
    """The expected lines as this run prints them, gaps kept; None if the output is different."""
    if not expected or not lines:
        return None if expected or lines else []
    if expected[0] == GAP:
        for skipped in range(1, len(lines) + 1):
            rest = aligned(expected[1:], lines[skipped:])
            if rest is not None:
                return [GAP, *rest]
        return None
    if not line_matches(expected[0], lines[0]):
        return None
    rest = aligned(expected[1:], lines[1:])
    return None if rest is None else [expected[0] if GAP in expected[0] else lines[0], *rest]


def shown_lines(expected, lines, again):
    """What a document should show: short output in full, else the lines it shows today.

    Lines that differ in a second run (`again`) are left out, unless a line of today matches them.
    """
    same = {RANDOM.sub("ID", line) for line in again}
    old_lines = [old for old in expected if old != GAP]

    def shown(line):
        for old in old_lines:
            if GAP in old and line_matches(old, line):
                return old
        is_wanted = len(lines) <= SHORT or any(
            old in line or old.split()[:2] == line.split()[:2] for old in old_lines)
        return line if is_wanted and RANDOM.sub("ID", line) in same else GAP

    result = []
    for line in map(shown, lines):
        if line != GAP or not result or result[-1] != GAP:
            result.append(line)
    return result


class Shell:
    """Runs commands in a directory. Errors are collected, one text each."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.count, self.failed, self.errors, self.outputs = 0, 0, [], []

    def run(self, command):
        """Exit code and output."""
        done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              stdin=subprocess.DEVNULL, env=self.environment, cwd=self.folder,
                              timeout=200, errors="replace")
        return done.returncode, done.stdout

    def run_block(self, name, text):
        for shown, expected in commands(text):
            command, _, expected_code = "\n".join(shown)[2:].partition("# exit ")
            code, output = self.run(command)
            lines = [line.rstrip() for line in output.splitlines() if line.strip()]
            self.outputs.append(lines)
            self.count += 1
            if code != int(expected_code or 0):
                self.failed += 1
                self.errors.append(f"{name}: {command}: exit {code}\n{output}")
            elif aligned(expected, lines) is None:
                self.errors.append(f"{name}: {command}: the document shows\n" +
                                   "\n".join(expected) + "\nbut the output is\n" +
                                   "\n".join(lines))

    def run_document(self, document):
        for kind, saved, text in blocks(document):
            if kind == "console":
                self.run_block(document.name, text)
            elif saved:
                pathlib.Path(self.folder, saved).write_text(text)


def update(document, outputs, again):
    """Rewrites the console blocks of a document whose output is not what two runs printed."""
    results = iter(zip(outputs, again))

    def rewritten(found):
        if found[1] != "console":
            return found[0]
        lines = []
        for shown, expected in commands(found[2]):
            output, second = next(results)
            printed = aligned(expected, output)
            lines += shown
            lines += shown_lines(expected, output, second) if printed is None else printed
        return "\n".join(["```console", *lines, "```"])

    document.write_text(FENCED.sub(rewritten, document.read_text()))
