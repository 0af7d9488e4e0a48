#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutant_sites.py finds the mutants of a small text, and ranks do not depend on other code."""
import unittest

import random_mutants
from mutant_sites import sites

UNTOUCHED = '''// a < b && c
/* x == 1
   y + 1 */
#define TWICE(x) \\
  ((x) + 1 < 2)
constexpr int table[] = {
    1, 2, 3,
};
constexpr int limit = 7;
enum class Kind {
  first = 1,
};
template <std::size_t count = 4>
void f() {
  const char* a = "b < c";
  const auto r = R"x(d == e")x";
  const char c = '<';
  CALPE_ASSERT(a < b && is_good(c + 1));
  static_assert(sizeof(a) == 8);
  all.reserve(count + 1);
  return make_error(Code::io, "got ", got + 1,
                    " of ", wanted - 1);
  x = std::array<int, 3>{};
}
'''


def changed(text, **options):
    """(operator, changed line)"""
    return [(site.operator, site.after) for site in sites(text, **options)]


def body(line):
    return "void f() {\n  " + line + "\n}\n"


class Sites(unittest.TestCase):
    def test_nothing_in_comments_strings_assertions_errors_and_tables(self):
        self.assertEqual(changed(UNTOUCHED), [])

    def test_each_operator(self):
        for line, expected in (
                ("if (a < b) f();", [("< to <=", "if (a <= b) f();")]),
                ("if (a >= b) f();", [(">= to >", "if (a > b) f();")]),
                ("x = n + 1;", [("no + 1", "x = n;"), ("+ 1 to - 1", "x = n - 1;")]),
                ("x = n - 1;", [("no - 1", "x = n;"), ("- 1 to + 1", "x = n + 1;")]),
                ("if (!a && b) f();", [("no !", "if (a && b) f();"),
                                       ("&& to ||", "if (!a || b) f();")]),
                ("if (a == b || c) f();", [("== to !=", "if (a != b || c) f();"),
                                           ("|| to &&", "if (a == b && c) f();")]),
                ("return true;", [("true to false", "return false;")]),
                ("is_done = false;", [("false to true", "is_done = true;")]),
                ("x ^= y;", [("^= to =", "x = y;")]),
                ("x += y;", [("+= to -=", "x -= y;"), ("+= to =", "x = y;")]),
                ("x = a * b;", [("* to /", "x = a / b;")]),
                ("x = a % b;", [("% to /", "x = a / b;")]),
                ("if (a) continue;", [("continue to break", "if (a) break;")]),
                ("x = 16;", [("constant + 1", "x = 17;")]),
                ("f(0x10, 1'000, 2.5, 0777); g();", []),
                ("flush_live();", [("removed call", "")]),
                ("CALPE_CHECK(flush());", []),
                ("const std::lock_guard lock(mutex_);", [("removed lock", "")])):
            self.assertEqual(changed(body(line)), expected, line)

    def test_a_call_that_an_if_needs_stays(self):
        self.assertEqual(changed(body("if (a)\n    f();\n  g();")), [("removed call", "")])

    def test_defaults_of_members_in_headers_stay(self):
        text = "struct S {\n  unsigned count = 3;\n};\n"
        self.assertEqual(changed(text, is_header=True), [])

    def test_only_the_token_changes(self):
        text = body("if (a < b) f();") + "// a < b\n"
        (site,) = sites(text)
        self.assertEqual(site.line, 2)
        self.assertEqual(text[site.start:site.end], "<")


class Ranks(unittest.TestCase):
    def ranked(self, text):
        mutants = random_mutants.mutants_of("src/code/a.cpp", text)
        return [(m.site.before, m.site.after) for m in random_mutants.by_rank(mutants, seed=1)]

    def test_stay_when_other_code_changes(self):
        old = body("if (a < b) f();\n  x = y * z;\n  if (a == b) f();\n  n += k;")
        new = "// more\n" + body("if (a < b) f();\n  call();\n  x = y * z;\n  if (a == b) f();\n"
                                 "  n += k;")
        kept = [mutant for mutant in self.ranked(new) if mutant[0] != "call();"]
        self.assertEqual(kept, self.ranked(old))
        self.assertEqual(len(kept), 5)

    def test_depend_on_the_seed_and_tell_equal_lines_apart(self):
        text = body("\n  ".join(["if (a < b) f();"] * 8))
        mutants = random_mutants.mutants_of("src/code/a.cpp", text)
        self.assertEqual(len({m.occurrence for m in mutants}), 8)
        orders = {tuple(m.occurrence for m in random_mutants.by_rank(mutants, seed))
                  for seed in range(4)}
        self.assertEqual(len(orders), 4)


if __name__ == "__main__":
    unittest.main()
