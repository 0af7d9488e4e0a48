# SPDX-License-Identifier: Apache-2.0
"""Finds tokens in C++ source that can be changed so that it most likely still compiles. Skips
comments, strings, assertions, error messages and tables."""
import bisect
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Site:
    operator: str
    start: int  # in the text
    end: int
    new: str
    line: int  # from 1
    before: str  # the line, and the line as it will be
    after: str


HIDDEN = "\x01"  # replaces each character that must not be changed
QUOTED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
                    r'|"(?:\\.|[^"\\])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\])+\'', re.S)
PREPROCESSOR = re.compile(r"(?m)^#(?:.*\\\n)*.*$")
# Calls whose operands are messages, assertions or hints.
WORDS = re.compile(r"\b(?:static_assert|CALPE_ASSERT|CALPE_DEBUG_ASSERT|make_error|refuse|invalid|"
                   r"corrupt|text|log_line|log|say|warn|damaged|wrong|bad|error|reserve)\s*\(")
TABLE = re.compile(r"(?m)^(?:static |inline )*(?:constexpr|const)\b[^()\n]*=[^;]*;")

OPERATORS = (
    ("< to <=", r"(?<= )<(?= )", "<="), ("<= to <", r"(?<= )<=(?= )", "<"),
    ("> to >=", r"(?<= )>(?= )", ">="), (">= to >", r"(?<= )>=(?= )", ">"),
    ("+ 1 to - 1", r"\+ 1\b(?![.'])", "- 1"), ("no + 1", r" \+ 1\b(?![.'])", ""),
    ("- 1 to + 1", r"(?<= )- 1\b(?![.'])", "+ 1"), ("no - 1", r" - 1\b(?![.'])", ""),
    ("&& to ||", r"(?<= )&&(?=[ \n])", "||"), ("|| to &&", r"(?<= )\|\|(?=[ \n])", "&&"),
    ("== to !=", r"(?<= )==(?= )", "!="), ("!= to ==", r"(?<= )!=(?= )", "=="),
    ("no !", r"(?<![\w)\]])!(?=[\w(*])", ""),
    ("true to false", r"\btrue\b(?=[;)])", "false"),
    ("false to true", r"\bfalse\b(?=[;)])", "true"),
    ("^= to =", r"\^=", "="), ("|= to =", r"\|=", "="),
    ("+= to -=", r"\+=", "-="), ("+= to =", r"\+=", "="),
    ("+ to -", r"(?<=[\w)\]] )\+(?= [\w(])(?! 1\b)", "-"),
    ("- to +", r"(?<=[\w)\]] )-(?= [\w(])(?! 1\b)", "+"),
    ("* to /", r"(?<=[\w)\]] )\*(?= [\w(])", "/"), ("/ to *", r"(?<=[\w)\]] )/(?= [\w(])", "*"),
    ("% to /", r"(?<=[\w)\]] )%(?= [\w(])", "/"),
    ("continue to break", r"\bcontinue(?=;)", "break"),
)
CONSTANT = re.compile(r"(?<![\w.'<])(0|[1-9]\d*)(?=[uU]?[lL]{0,2}\b)(?![.'\dxX]|[uU]?>)")
CALL = re.compile(r"(?m)^  +(?P<statement>(?!CALPE_|return\b|throw\b|delete\b|using\b|co_|for\b|"
                  r"if\b|while\b|switch\b|else\b|case\b|explicit\b|static_cast<void>)"
                  r"(?:[\w:\[\]]|->|\.|\*)+\([^;{}\x01]*\);)$")
LOCK = re.compile(r"(?m)^  +(?P<statement>(?:const )?std::(?:lock_guard|unique_lock|scoped_lock|"
                  r"shared_lock)(?:<[^>]*>)? \w+\([^;]*\);)$")
REMOVED_LOCK = "removed lock"
# Declarations, where a change does not compile or has no effect.
DECLARATION = re.compile(r"\s*(?:template\b|using\b|friend\b|typedef\b|enum\b|virtual\b|"
                         r"namespace\b|class\b|struct\b|public:|private:|\[\[nodiscard\]\][^{]*$|"
                         r"(?:static |inline )*constexpr\b(?!.*\) *(?:const)? *(?:noexcept)? *\{))")
ENUMERATOR = re.compile(r"\s*\w+ = \d+,?[ \x01]*$")
MEMBER_DEFAULT = re.compile(r"\s*(?:unsigned|std::|bool|int|char|double)[\w:<> ]* \w+ = \d+;"
                            r"[ \x01]*$")


def hidden(found):
    return re.sub(r"[^\n]", HIDDEN, found.group())


def hide_calls(text):
    """Hides each call of WORDS up to its closing parenthesis."""
    found = WORDS.search(text)
    while found:
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        call = re.sub(r"[^\n]", HIDDEN, text[found.start():end])
        text = text[:found.start()] + call + text[end:]
        found = WORDS.search(text, end)
    return text


def visible(text):
    """The text with HIDDEN in place of everything that must not be changed."""
    for pattern in (QUOTED, PREPROCESSOR, TABLE):
        text = pattern.sub(hidden, text)
    return hide_calls(text)


def changes(shown):
    """(operator, start, end, new) of each candidate, before lines are filtered."""
    for operator, pattern, new in OPERATORS:
        for found in re.finditer(pattern, shown):
            yield operator, found.start(), found.end(), new
    for found in CONSTANT.finditer(shown):
        # `+ 1` and `- 1` have their own operators.
        if shown[found.start() - 2:found.start()] in ("+ ", "- ") and found[1] == "1":
            continue
        yield "constant + 1", found.start(1), found.end(1), str(int(found[1]) + 1)
    for operator, pattern in (("removed call", CALL), (REMOVED_LOCK, LOCK)):
        for found in pattern.finditer(shown):
            # Otherwise it is the body of an if without braces, which would capture the next one.
            if shown[:found.start()].rstrip(" \n" + HIDDEN)[-1:] in tuple(";{}:"):
                yield operator, found.start("statement"), found.end("statement"), ""


def is_code(line, operator, is_header):
    if DECLARATION.match(line) or not (line.startswith("  ") or "{" in line):
        return False
    if operator != "constant + 1":
        return True
    return (line.startswith("  ") and not ENUMERATOR.match(line)
            and not (is_header and MEMBER_DEFAULT.match(line)))


def sites(text, is_header=False):
    """All candidates in source order."""
    shown = visible(text)
    starts = [0] + [found.end() for found in re.finditer("\n", text)]
    lines, shown_lines = text.split("\n"), shown.split("\n")
    result = []
    for operator, start, end, new in changes(shown):
        line = bisect.bisect_right(starts, start) - 1
        if not is_code(shown_lines[line], operator, is_header):
            continue
        at = start - starts[line]
        after = lines[line][:at] + new + lines[line][at + end - start:]
        result.append(Site(operator, start, end, new, line + 1, lines[line].strip(),
                           after.strip()))
    return sorted(result, key=lambda site: (site.start, site.operator))
