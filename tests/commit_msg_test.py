#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests .githooks/commit-msg and checks the messages of the history.

Usage: commit_msg_test.py             good and bad messages, in a temporary repository
       commit_msg_test.py --history   all commits since the rules began; 77 without the history
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOOK = ROOT / ".githooks/commit-msg"
# Later commits follow the rules.
RULES_BEGAN = "0d089d9"

GOOD = [
    "array: refuse a log with a gap",
    "array: refuse a log with a gap\n",
    "ci: fix the seeds of .ci/run\n\nfiles_damage failed with a new seed.\n",
    "docs/array: describe leases",
    "c++17: need no concepts",
    "files: pass the key to repair",
    "tests: embed the fixture, with its prefix",
    "array: " + "a" * 65,
    "files: lock sets\n\n" + "b" * 40 + " " + "c" * 39,
    "files: cite the paper\n\nhttps://example.org/" + "d" * 90,
    "Merge branch 'main' into a branch whose name is longer than seventy-two columns are wide",
    'Revert "array: refuse a log with a gap"\n\nThis reverts commit 0123456.\n',
]

# message; expected error
BAD = [
    ("\n\narray: refuse", "the first line is empty"),
    ("refuse a log with a gap", "write 'area: imperative subject'"),
    ("Array: refuse a log", "write 'area: imperative subject'"),
    ("array : refuse a log", "write 'area: imperative subject'"),
    ("array:refuse a log", "write 'area: imperative subject'"),
    ("array: ", "write 'area: imperative subject'"),
    ("array: refuse a log.", "full stop"),
    ("array: " + "a" * 66, "73 columns; shorten it to 72"),
    ("array: refused a log", "begins with 'refused'"),
    ("array: refuses a log", "begins with 'refuses'"),
    ("array: refusing a log", "begins with 'refusing'"),
    ("array: refuse a log\nwith a gap", "line 2 is not empty"),
    ("array: refuse a log\n\nshort\n" + "b" * 40 + " " + "c" * 40, "line 4 has 81 columns"),
    ("array: fix the log", "a fix needs a body"),
    ("array: fix the log\n\n \n", "a fix needs a body"),
    ("array: add a bugfix", "a fix needs a body"),
    ("fixup! array: refuse a log", "write 'area: imperative subject'"),
]


def load_hook():
    loader = importlib.machinery.SourceFileLoader("commit_msg", str(HOOK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("commit_msg", loader))
    loader.exec_module(module)
    return module


hook = load_hook()


def git(folder, *arguments, text=None):
    # Remove the variables of a Git that runs this test from a hook, and the user's files.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("GIT_")}
    environment.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    for who in ("AUTHOR", "COMMITTER"):
        environment.update({f"GIT_{who}_NAME": "test", f"GIT_{who}_EMAIL": "test@calpe.invalid"})
    command = ["git", "-C", str(folder), "-c", f"safe.directory={folder}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment,
                          input=text)


class Rules(unittest.TestCase):
    def test_good_messages_pass(self):
        for message in GOOD:
            with self.subTest(message):
                self.assertEqual([], list(hook.problems(message)))

    def test_each_bad_message_has_one_complaint(self):
        for message, words in BAD:
            with self.subTest(message):
                found = list(hook.problems(message))
                self.assertEqual(1, len(found), found)
                self.assertIn(words, found[0])

    def test_comments_are_no_part_of_the_message(self):
        text = ("array: fix a gap\n\nThe log had one.\n# " + "a" * 90 +
                "\n# ------------------------ >8 ------------------------\n" + "b " * 90)
        self.assertEqual("array: fix a gap\n\nThe log had one.",
                         hook.without_comments(text, "#"))


class InARepository(unittest.TestCase):
    def setUp(self):
        if shutil.which("git") is None or git(ROOT, "--version").returncode != 0:
            self.skipTest("there is no git")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.assertEqual(0, git(self.folder, "init", "--quiet").returncode)
        git(self.folder, "config", "core.hooksPath", str(HOOK.parent))

    def commit(self, message):
        return git(self.folder, "commit", "--allow-empty", "--file=-", text=message)

    def test_git_refuses_a_bad_message_and_says_why(self):
        done = self.commit("array: fixed the log.\n")
        self.assertEqual(1, done.returncode)
        self.assertIn("commit-msg: the subject ends with a full stop; remove it", done.stderr)
        self.assertIn("commit-msg: the subject begins with 'fixed'", done.stderr)
        self.assertIn("COMMIT_EDITMSG", done.stderr)
        self.assertNotEqual(0, git(self.folder, "rev-parse", "--verify", "HEAD").returncode)

    def test_git_accepts_good_messages_and_those_of_autosquash(self):
        for message in ("array: refuse a log\n\nIt had a gap.\n", "fixup! array: refuse a log\n"):
            done = self.commit(message)
            self.assertEqual(0, done.returncode, done.stderr)

    def test_the_comment_character_is_that_of_git(self):
        git(self.folder, "config", "core.commentChar", ";")
        done = self.commit("array: refuse a log\n\n; " + "a " * 60 + "\n")
        self.assertEqual(0, done.returncode, done.stderr)


def reason_to_skip():
    if not (ROOT / ".git").exists():
        return "there is no .git"
    shallow = git(ROOT, "rev-parse", "--is-shallow-repository")
    if shallow.returncode != 0:
        return f"git says {shallow.stderr.strip()}"
    if shallow.stdout.strip() == "true":
        return "the clone is shallow"
    if git(ROOT, "cat-file", "-e", f"{RULES_BEGAN}^{{commit}}").returncode != 0:
        return f"commit {RULES_BEGAN} is not in the history"
    return None


def check_history():
    reason = reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        return 77
    log = git(ROOT, "log", "--no-merges", "--format=%h%n%B%x00", f"{RULES_BEGAN}..HEAD")
    commits = [entry.strip("\n").split("\n", 1) for entry in log.stdout.split("\0")]
    commits = [commit for commit in commits if commit[0]]
    if not commits:
        print(f"git lists no commit since {RULES_BEGAN}: {log.stderr.strip()}")
        return 1
    found = [f"{commit[0]}: {problem}" for commit in commits
             for problem in hook.problems(commit[1] if len(commit) > 1 else "")]
    print("\n".join(found) or f"commit_msg: {len(commits)} messages are good")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--history"]:
        sys.exit(check_history())
    unittest.main()
