#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of language.py, violated once; and texts that it must accept."""
import pathlib
import tempfile
import unittest

import language

LONG = "This sentence " + "has a great many words and " * 8 + "ends at last."


def found(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return [(finding.line, finding.kind) for finding in
                language.findings(pathlib.Path(folder))]


class Words(unittest.TestCase):
    def test_every_kind_of_file(self):
        for name, text in [("docs/a.md", "The set is made anew.\n"),
                           ("man/a.1", ".SH DESCRIPTION\nThe set is made anew.\n"),
                           ("src/a.cpp", 'fail("the set is made anew");\n'),
                           ("src/a.hpp", "// Makes the set anew.\n"),
                           ("tests/a.py", '"""Makes the set anew."""\n'),
                           ("cmake/a.cmake", "# Makes the set anew.\n"),
                           ("src/CMakeLists.txt", "# Makes the set anew.\n"),
                           (".ci/run", "# Makes the set anew.\n")]:
            lines = [2] if name == "man/a.1" else [1]
            self.assertEqual(found(name, text), [(line, "word") for line in lines], name)

    def test_every_pattern_has_an_example(self):
        examples = ["it is gone on with", "made anew", "nobody waits", "beside it",
                    "such files are none",
                    "if need be", "it was mended", "gives back", "looks after", "what it hangs on",
                    "too good by", "can be had", "found out", "data are lost", "of ours",
                    "so large each", "at night", "with every change", "cannot be believed",
                    "is no JSON", "folder we are in", "the judge", "other people's", "in vain",
                    "not given: x", "be the end", "is asked for twice", "is 3, expected at most 2"]
        self.assertEqual(len(examples), len(language.FORBIDDEN))
        for example in examples:
            self.assertEqual(found("docs/a.md", example + "\n"), [(1, "word")], example)

    def test_over_the_end_of_a_line(self):
        self.assertEqual(found("src/a.hpp", "// Then it is gone\n// on with.\n"), [(1, "word")])

    def test_parts_of_words(self):
        self.assertEqual(found("docs/a.md", "Besides, we recommend amendments.\n"), [])

    def test_start_of_a_comment(self):
        self.assertEqual(found("src/a.hpp", "// Of a shard, its bytes.\n"), [(1, "word")])
        self.assertEqual(found("src/a.hpp", "int x;  // Of a shard.\n"), [(1, "word")])
        self.assertEqual(found("src/a.hpp", "// Bytes of the shard\n// Of Theseus.\n"), [])


class Measures(unittest.TestCase):
    def test_sentences(self):
        self.assertEqual(found("docs/a.md", f"# A\n\n{LONG}\n"),
                         [(3, "long lines"), (3, "long sentences")])
        self.assertEqual(found("man/a.1", f".SH A\n{LONG}\n"), [(2, "long sentences")])

    def test_sentence_over_lines(self):
        self.assertEqual(found("docs/a.md", LONG.replace(" and", "\nand") + "\n"),
                         [(1, "long sentences")])

    def test_code_is_not_prose(self):
        self.assertEqual(found("docs/a.md", f"```\n{LONG}\n```\n"), [])
        self.assertEqual(found("docs/a.md", f"Run `{LONG[:70]}` now.\n"), [])

    def test_items_are_apart(self):
        self.assertEqual(found("docs/a.md", "- nine words are in each item of this list\n" * 9), [])

    def test_cells(self):
        self.assertEqual(found("docs/a.md", f"| a | {'b ' * 61} |\n"), [(1, "wide cells")])
        self.assertEqual(found("docs/a.md", f"| a | {'b ' * 60} |\n"), [])

    def test_columns(self):
        self.assertEqual(found("docs/a.md", "word " * 20 + "x\n"), [(1, "long lines")])
        self.assertEqual(found("docs/a.md", "- " + "x" * 200 + "\n"), [])  # cannot be wrapped


if __name__ == "__main__":
    unittest.main()
