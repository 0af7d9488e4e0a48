#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""console.py accepts whole lines only, apart from gaps and random identifiers."""
import pathlib
import tempfile
import unittest

import console

SET = "photos (4+2 hybrid, set 79ce6cf1): repaired."


class ConsoleTest(unittest.TestCase):
    def assert_shown(self, expected, lines, is_right):
        self.assertEqual(console.aligned(expected, lines) is not None, is_right, (expected, lines))

    def test_lines(self):
        self.assert_shown(["a", "b"], ["a", "b"], True)
        self.assert_shown(["repaired"], ["0 repaired"], False)
        self.assert_shown(["a"], ["a", "b"], False)
        self.assert_shown(["b"], ["a", "b"], False)
        self.assert_shown(["a", "b"], ["b", "a"], False)
        self.assert_shown([], ["a"], False)
        self.assert_shown(["a"], [], False)

    def test_gaps(self):
        self.assert_shown(["...", "b"], ["a", "a", "b"], True)
        self.assert_shown(["a", "...", "b", "..."], ["a", "x", "b", "y", "z"], True)
        self.assert_shown(["a", "..."], ["a"], False)
        self.assert_shown(["in ... s"], ["in 0.1 s"], True)
        self.assert_shown(["in ... s"], ["in 0.1 s, wrong"], False)
        self.assert_shown(["... s"], ["in 0.1 s"], False)

    def test_identifiers(self):
        self.assert_shown([SET], [SET.replace("79ce6cf1", "00000000")], True)
        self.assert_shown([SET], [SET.replace("4+2", "4+3")], False)

    def test_a_document(self):
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder, "page.md")
            document.write_text("Save as `x.txt`:\n\n```\nhello\n```\n\n"
                                "```console\n$ cat x.txt\nhello\n$ false # exit 1\n$ echo a \\\n"
                                "  b\nb\n```\n")
            shell = console.Shell(folder, {"PATH": "/usr/bin:/bin"})
            shell.run_document(document)
            self.assertEqual((shell.count, shell.failed, len(shell.errors)), (3, 0, 1))
            console.update(document, shell.outputs, shell.outputs)
            again = console.Shell(folder, shell.environment)
            again.run_document(document)
            self.assertEqual(again.errors, [])
            self.assertIn("  b\na b\n```", document.read_text())


unittest.main()
