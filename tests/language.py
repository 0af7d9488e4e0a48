#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules for our texts. Run by ctest as `language`: language.py [--list] [repository]

Fails on words and constructions that do not belong into plain English (FORBIDDEN), anywhere in the
repository: documents, man pages, messages, comments. Long sentences, wide table cells and long
lines of Markdown may not become more than BUDGET allows; --list shows them. Lower a budget when
you have shortened some.
"""
import pathlib
import re
import sys
from typing import NamedTuple

# Pattern and what to write instead. Compared without case; a space matches any white space.
FORBIDDEN = [
    (r"\b(go|goes|gone|going|went) on with\b", "resume, continue"),
    (r"\banew\b", "again; rebuild, recreate"),
    (r"\b(nobody|somebody|whoever|whomever)\b", "name the actor: caller, thread, process"),
    (r"\bbeside\b", "next to, compared with"),
    (r"(?<!there\s)\b(is|are|was|were) (?-i:none)\b(?!,)", "does not exist; is not a ..."),
    (r"\bif need be\b", "if needed"),
    (r"\bmend(s|ed|ing)?\b", "fix (a bug), repair (shards)"),
    (r"\b(give|gives|given|gave|giving) back\b", "return, restore"),
    (r"\blooks? after\b", "manage"),
    (r"\bwhat it hangs on\b", "sensitivity; depends on"),
    (r"\b(too good by)\b", "optimistic by a factor of"),
    (r"\bcan be had\b", "is available"),
    (r"\bfound out\b", "detected"),
    (r"(?<!hold\s)(?<!of\s)\bdata are\b", "the data is"),
    (r"\b(of ours|bytes of others)\b", "our, third-party"),
    (r"\bso (many|large|much) each\b", "of this size"),
    (r"\bat night\b", "in the nightly run"),
    (r"\bwith every change\b", "in CI"),
    (r"\bcannot be believed\b", "is inconsistent"),
    (r"(?<!there\s)\bis no (JSON|socket|terminal|file|directory|number|member|shard)\b",
     "is not a ..."),
    (r"\bfolder we are in\b", "current directory"),
    (r"\bthe judge\b", "reference"),
    (r"\bother people's\b", "third-party"),
    (r"\bin vain\b", "without effect; and discards the result"),
    (r"\bnot given:", "(default: X)"),
    (r"\bbe the end\b", "crash"),
    (r"\bis asked for twice\b", "is given twice"),
    (r"(?<=[\w\"'\])}]), expected (?=(a|an|at|one|less|below|separate|some|only|the|\d+)\b)",
     "; expected"),
]
# A comment begins with a verb or a noun.
COMMENT_START = re.compile(r"(?://|#)[!<]? *(Of|Whoever|Those|Whether nobody)\b")
COMMENT_HINT = "begin with a verb or the thing's noun"

SENTENCE_WORDS_MAX = 30
CELL_CHARACTERS_MAX = 120
MARKDOWN_COLUMNS_MAX = 100
BUDGET = {"long sentences": 9, "wide cells": 0, "long lines": 0}

SUFFIXES = {".md", ".1", ".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".yml", ".yaml",
            ".cl", ".cu", ".json", ".svg"}
CODE = {".hpp", ".cpp", ".h", ".c", ".cl", ".cu"}
SKIPPED = (".git/", "build/", "tests/golden/", "tests/vectors/", "bench/results/",
           "packaging/abi/libcalpe1.abi")
# These quote what they forbid.
QUOTING = {"tests/language.py", "tests/language_selftest.py"}
# Data, not texts.
DATA_SUFFIXES = {".json"}


class Finding(NamedTuple):
    path: str
    line: int
    kind: str  # "word" or a key of BUDGET
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def files(root):
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(SKIPPED) or "__pycache__" in name or name in QUOTING:
            continue
        if path.suffix in DATA_SUFFIXES or not path.is_file():
            continue
        is_script = name.startswith((".ci/", ".githooks/")) and not path.suffix
        if path.suffix in SUFFIXES or path.name == "CMakeLists.txt" or is_script:
            yield name, path.read_text(encoding="utf-8", errors="replace")


def patterns():
    return [(re.compile(pattern.replace(" ", r"[\s/#*]+"), re.IGNORECASE), hint)
            for pattern, hint in FORBIDDEN]


PATTERNS = patterns()


def forbidden_words(name, text):
    for pattern, hint in PATTERNS:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Finding(name, line, "word", f'"{" ".join(match[0].split())}": {hint}')
    if pathlib.PurePath(name).suffix == ".md":
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = COMMENT_START.search(line)
        # A sentence of the line before may go on.
        if match and not continues(text.splitlines(), number - 1):
            yield Finding(name, number, "word", f'comment begins with "{match[1]}": {COMMENT_HINT}')


def continues(lines, index):
    """Whether the comment on this line carries on the one above."""
    before = lines[index - 1].strip() if index else ""
    is_comment = before.startswith(("//", "#", "*"))
    is_whole_line = lines[index].strip().startswith(("//", "#"))
    return is_comment and is_whole_line and not before.endswith((".", ":", "?"))


def prose_of_markdown(text):
    """Lines as (number, line), without code, which is fenced or indented by four."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```|~~~)", line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        elif fence is None:
            yield number, "" if line.startswith("    ") else line


def is_table(line):
    return line.lstrip().startswith("|")


def can_wrap(line):
    """Images stand on one line, and so does a word."""
    return not line.startswith("![") and " " in line.strip().lstrip("-*[#> ")


def paragraphs(lines):
    """(number of the first line, text) of paragraphs and list items."""
    begin, words = 0, []
    for number, line in lines:
        stripped = line.strip()
        is_break = not stripped or is_table(line) or stripped.startswith(("#", "<", "!["))
        is_item = re.match(r"([-*+]|\d+\.) ", stripped)
        if (is_break or is_item) and words:
            yield begin, " ".join(words)
            words = []
        if not is_break:
            begin = begin if words else number
            words.append(stripped)
    if words:
        yield begin, " ".join(words)


def sentences(paragraph):
    plain = re.sub(r"`[^`]*`", "code", paragraph)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    return re.split(r"(?<=[.!?:;])\s+(?=[A-Z`*\[(\"])|(?<=[.!?])[\"*)]*\s+", plain)


def markdown_measures(name, text):
    lines = list(prose_of_markdown(text))
    for number, line in lines:
        if is_table(line):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                if len(cell.strip()) > CELL_CHARACTERS_MAX:
                    yield Finding(name, number, "wide cells",
                                  f"cell of {len(cell.strip())} characters")
        elif len(line) > MARKDOWN_COLUMNS_MAX and can_wrap(line):
            yield Finding(name, number, "long lines", f"{len(line)} columns")
    yield from long_sentences(name, paragraphs(lines))


def long_sentences(name, texts):
    for number, paragraph in texts:
        for sentence in sentences(paragraph):
            count = len(sentence.split())
            if count > SENTENCE_WORDS_MAX:
                yield Finding(name, number, "long sentences",
                              f"{count} words: {sentence[:60]}...")


def prose_of_manual(text):
    """Paragraphs of a man page; a macro that only sets a font does not end one."""
    begin, words, is_example = 0, [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith((".nf", ".EX", ".SH SYNOPSIS", ".SH SEE ALSO")):
            is_example = True
        elif line.startswith((".fi", ".EE", ".SH")):
            is_example = False
        if line.startswith((".B ", ".I ", ".BR ", ".IR ", ".BI ")) and not is_example:
            line = " ".join(line.split()[1:]).replace('"', "")
        if line.startswith((".", "'")) or is_example or not line.strip():
            if words:
                yield begin, " ".join(words)
            words = []
            continue
        begin = begin if words else number
        words.append(line.strip())
    if words:
        yield begin, " ".join(words)


def findings(root):
    for name, text in files(root):
        yield from forbidden_words(name, text)
        suffix = pathlib.PurePath(name).suffix
        if suffix == ".md":
            yield from markdown_measures(name, text)
        elif suffix == ".1":
            yield from long_sentences(name, prose_of_manual(text))


def main():
    arguments = sys.argv[1:]
    is_list = "--list" in arguments
    paths = [argument for argument in arguments if argument != "--list"]
    found = list(findings(pathlib.Path(paths[0] if paths else ".").resolve()))
    words = [finding for finding in found if finding.kind == "word"]
    is_bad = bool(words)
    for finding in words:
        print(finding)
    for kind, most in BUDGET.items():
        of_kind = [finding for finding in found if finding.kind == kind]
        is_over = len(of_kind) > most
        is_bad = is_bad or is_over
        if is_over or is_list:
            print("\n".join(map(str, of_kind)))
        if is_over:
            print(f"{len(of_kind)} {kind}, at most {most} allowed: shorten yours")
        elif len(of_kind) < most:
            print(f"note: {len(of_kind)} {kind}; the budget of {most} may shrink")
    if not is_bad:
        print(f"language: {len(FORBIDDEN)} rules, no violation")
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
