#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shell completion: the output of `calpe complete`, and completion in bash and zsh.

Usage: completion_test.py REPOSITORY CALPE
Compares all verbs and options with --help, then types keys into real shells. Exits with 77 without
zsh.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(sys.argv[1]).resolve()
calpe = pathlib.Path(sys.argv[2]).resolve()
SCRIPTS = root / "tools/completion"
DEADLINE_SECONDS = 60


def expect(claim, text):
    if not claim:
        sys.exit(f"completion_test: {text}")


def answers(*words):
    done = subprocess.run([calpe, "complete", *words], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and not done.stderr, f"{words}: {done}")
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def help_of(*path):
    return subprocess.run([calpe, *path, "--help"], capture_output=True, text=True,
                          check=True).stdout


def verbs_in(text):
    """Returns the verbs listed in a help text."""
    parts = re.split(r"^([A-Z][^\n]*):$", text, flags=re.M)
    return [verb for name, part in zip(parts[1::2], parts[2::2])
            if name not in ("Options", "Positionals")
            for verb in re.findall(r"^  ([a-z][a-z-]*) ", part, re.M)]


def check_table():
    """Checks that exactly the verbs and options of --help are offered."""
    count = 0
    paths = [[]]
    while paths:
        path = paths.pop()
        text = help_of(*path)
        verbs = verbs_in(text)
        offered = answers(*path, "")
        expect(set(verbs) <= set(offered), f"{path}: {set(verbs) - set(offered)} are not offered")
        options = set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", text, re.M))
        expect(set(answers(*path, "-")) == options,
               f"{path}: {set(answers(*path, '-')) ^ options} differ from --help")
        count += len(options) + len(verbs)
        paths += [[*path, verb] for verb in verbs]
    return count


def check_operands():
    """Operands of options, and positional operands."""
    expect("hybrid" in answers("protect", "x", "--profile", ""), "profiles")
    expect("jit" in answers("bench", "--backend", ""), "backends")
    expect(answers("codes", "check", "--layout", "") == ["bytes", "packets"], "a list of words")
    expect("decode-fresh" in answers("bench", "--operation", ""), "operations")
    expect("relation_walk" in answers("equations", "--disable-pass", ""), "passes")
    expect("nvsim-32nm" in answers("reram", "--preset", ""), "presets")
    expect(answers("protect", "") == ["<files>"], "a file to protect")
    expect(answers("protect", "x", "-o", "") == ["<folders>"], "a target directory")
    expect(answers("protect", "--data", "") == [], "numbers are not completed")
    expect(answers("protect", "x", "") == ["<files>"], "a further file to protect")
    expect("--output" in answers("report", "x", ""), "options when no operand is left")
    expect(answers("array", "status", "m0", "") == ["<files>"], "any number of members")
    given = answers("protect", "--json", "-o", "a", "-")
    expect("--json" not in given and "--output" in given, "options given before")
    expect(answers("verify", "--", "-") == ["<files>"], "after -- there are no options")
    expect(answers("bogus", "--x", "") != ["bogus"], "unknown words")


def bash_answers(*words):
    quoted = " ".join(f"'{word}'" for word in words)
    script = (f"source {SCRIPTS}/calpe.bash; COMP_WORDS=({calpe} {quoted}); "
              f"COMP_CWORD={len(words)}; _calpe; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True,
                          check=False)
    expect(not done.stderr, f"bash: {done.stderr}")
    return done.stdout.split()


def check_bash():
    expect(bash_answers("prot") == ["protect"], "bash: a verb")
    expect(bash_answers("array", "s") == ["scan", "status", "scrub"], "bash: a subcommand")
    expect(bash_answers("protect", "--keep") == ["--keep-original"], "bash: an option")
    expect(bash_answers("codes", "check", "--layout", "=", "by") == ["bytes"], "bash: after =")
    expect(bash_answers("codes", "check", "--layout", "=") == ["bytes", "packets"], "bash: all")


class Terminal:
    """A shell on its own terminal."""

    def __init__(self, command, folder, setup):
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(PATH=f"{calpe.parent}:{os.environ['PATH']}", TERM="vt100",
                              HOME=folder, PS1="> ", COLUMNS="200")
            os.execvp(command[0], command)
        self.output = ""
        self.type(f"{setup}\r")
        self.type("echo READY$((40 + 2))\r")
        self.wait_for("READY42")

    def type(self, keys):
        os.write(self.file, keys.encode())

    def wait_for(self, pattern):
        end = time.monotonic() + DEADLINE_SECONDS
        while not (found := re.search(pattern, self.output)):
            left = end - time.monotonic()
            expect(left > 0, f"no {pattern!r} in {self.output!r}")
            if select.select([self.file], [], [], left)[0]:
                self.output += os.read(self.file, 65536).decode(errors="replace")
        self.output = self.output[found.end():]
        return found

    def complete(self, keys, expected):
        """Types keys, including tabs, and checks the line that the shell then runs."""
        self.type(f"{keys}\r")
        # Some shells add a slash after a directory.
        line = self.wait_for(r"RAN<([^\r\n]*)>")[1].strip().rstrip("/")
        expect(line == expected, f"{keys!r} became {line!r}; expected {expected!r}")

    def close(self):
        self.type("exit\r")
        os.waitpid(self.process, 0)
        os.close(self.file)


def check_terminal(command, setup):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "some folder").mkdir()
        pathlib.Path(folder, "photo.raw").write_text("x")
        shell = Terminal(command, folder, setup)
        shell.complete("calpe prote\tpho\t--keep-o\t", "calpe protect photo.raw --keep-original")
        shell.complete("calpe codes check --profile vandermonde-z\t",
                       "calpe codes check --profile vandermonde-zfec")
        shell.complete("calpe array exp\t--cont\tpho\t",
                       "calpe array explain --control photo.raw")
        shell.complete("calpe codes check --layout=pack\t", "calpe codes check --layout=packets")
        shell.complete("calpe verify so\t", "calpe verify some\\ folder")
        shell.close()


def main():
    count = check_table()
    check_operands()
    check_bash()
    # The shell prints each command that it runs in angle brackets.
    bash = (f"source {SCRIPTS}/calpe.bash; bind 'set bell-style none'; "
            "trap 'printf \"RAN<%s>\\n\" \"$BASH_COMMAND\"' DEBUG")
    check_terminal(["bash", "--norc", "--noprofile", "-i"], bash)
    if shutil.which("zsh") is None:
        print("skipped: no zsh; bash passed")
        return 77
    zsh = (f"fpath=({SCRIPTS} $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep; "
           "preexec() { print -r -- \"RAN<$1>\" }")
    check_terminal(["zsh", "-f", "-i"], zsh)
    print(f"{count} verbs and options are offered; bash and zsh complete")
    return 0


sys.exit(main())
