#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one violation at a time in a small tree and expects tidy, format and lint to name it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
# Assembled from parts, so that this file does not break the rules itself.
MARKER = "TO" "DO"
MACHINE_PATH = "/" "work/main/x"

CLEAN_TREE = {
    "include/calpe/codec.hpp": SPDX + "#pragma once\n#include <calpe/result.hpp>\n",
    "src/gf/field.cpp": SPDX + '#include "base/assert.hpp"\n#include "gf/field.hpp"\n',
    "src/engine/compile.cpp": SPDX + '#include "backend/backend.hpp"\n#include "plan/plan.hpp"\n',
    "src/backend/cpu/kernels_avx2.cpp": SPDX + '#include "backend/cpu/passes.hpp"\n',
    "src/backend/cpu/passes.hpp": SPDX + "#pragma once\n#include <cstdint>\n",
    "src/backend/registry.cpp": SPDX + '#include "backend/cpu/passes.hpp"\n',
    "src/base/platform_posix.cpp": SPDX + 'auto x = secure_getenv("CALPE_X");\n',
    "src/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\n",
    "plugins/ceph/a.hpp": SPDX + '#include <calpe/calpe.h>\n#include "ceph/b.hpp"\n',
    "tools/calpe/codes/cmd_codes.cpp": SPDX + '#include "calpe/verbs.hpp"\n',
    "tests/run.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
    "tests/unit/gf/field_test.cpp": SPDX + f"// {MARKER}(#12): more\n",
}

# rule, file, its content; expected message
PLANTED = [
    ("upward include", "src/gf/a.cpp", SPDX + '#include "code/x.hpp"\n',
     "src/gf/a.cpp:2: gf/ may not include code/"),
    ("sideways include", "src/ir/a.cpp", SPDX + '#include "code/x.hpp"\n',
     "ir/ may not include code/"),
    ("capi inside", "src/capi/a.cpp", SPDX + '#include "engine/x.hpp"\n',
     "capi/ may not include engine/"),
    ("tool inside", "tools/calpe/files/a.cpp", SPDX + '#include "engine/x.hpp"\n',
     "calpe/files/ may not include engine/"),
    ("verb next to it", "tools/calpe/files/a.cpp", SPDX + '#include "calpe/array/x.hpp"\n',
     "calpe/files/ may not include calpe/array/"),
    ("format of a writer", "src/store/format/a.cpp", SPDX + '#include "store/write/x.hpp"\n',
     "store/format/ may not include store/write/"),
    ("upwards within an array", "src/array/state/a.cpp", SPDX + '#include "array/core/x.hpp"\n',
     "array/state/ may not include array/core/"),
    ("bench inside", "bench/a.cpp", SPDX + '#include "plan/x.hpp"\n',
     "bench/ may not include plan/"),
    ("plugin inside", "plugins/ceph/a.cpp", SPDX + '#include "base/text.hpp"\n',
     'plugins/ may include only their own directory, not "base/text.hpp"'),
    ("plugin on C++", "plugins/ceph/a.cpp", SPDX + "#include <calpe/codec.hpp>\n",
     "plugins/ may include <calpe/calpe.h>, not <calpe/codec.hpp>"),
    ("other backend", "src/backend/cpu/a.cpp", SPDX + '#include "backend/reference/x.hpp"\n',
     "backend/cpu/ may not include backend/reference/"),
    ("public header inside", "include/calpe/a.hpp", SPDX + '#include "gf/x.hpp"\n',
     'public headers include only <...>, not "gf/x.hpp"'),
    ("include without directory", "src/gf/a.cpp", SPDX + '#include "field.hpp"\n',
     "write the directory"),
    ("unknown folder", "src/misc/a.cpp", SPDX, "src/misc/ is not in the table"),
    ("kernel include", "src/backend/cpu/kernels_avx2.cpp", SPDX + "#include <vector>\n",
     "kernels_avx2.cpp:2: a kernel file may not include <vector>"),
    ("kernel include, indirect", "src/backend/cpu/passes.hpp", SPDX + "#include <algorithm>\n",
     "passes.hpp:2: a kernel file may not include <algorithm>"),
    ("long file", "src/gf/a.cpp", SPDX + "\n" * 600, "src/gf/a.cpp: 601 lines, limit 600"),
    ("wide line", "bench/a.cpp", SPDX + "// " + "x" * 98 + "\n", "bench/a.cpp:2: 101 columns"),
    ("nameless todo", "src/gf/a.cpp", SPDX + f"// {MARKER}: later\n", "write " + MARKER + "(#12)"),
    ("thread", "src/gf/a.cpp", SPDX + "auto x = std::thread(work);\n",
     "src/gf/a.cpp:2: start threads through base/threads.hpp"),
    ("thread with a name", "src/gf/a.cpp", SPDX + "std::thread helper(work);\n",
     "src/gf/a.cpp:2: start threads through base/threads.hpp"),
    ("thread in a list", "src/gf/a.cpp",
     SPDX + "std::vector<std::thread> helpers;\nhelpers.emplace_back(work);\n",
     "src/gf/a.cpp:3: start threads through base/threads.hpp"),
    ("asynchronous call", "tools/calpe/a.cpp", SPDX + "auto x = std::async(work);\n",
     "tools/calpe/a.cpp:2: start threads through base/threads.hpp"),
    ("macro of Windows", "tests/a.cpp", SPDX + "int near = 1;\n",
     "tests/a.cpp:2: 'near' is a macro of Windows"),
    ("environment", "src/gf/a.cpp", SPDX + 'auto x = std::getenv("CALPE_X");\n',
     "src/gf/a.cpp:2: read the environment through base/env.hpp"),
    ("environment of a tool", "tools/calpe/a.cpp", SPDX + 'auto x = secure_getenv ("X");\n',
     "tools/calpe/a.cpp:2: read the environment through base/env.hpp"),
    ("environment in base", "src/base/a.cpp", SPDX + 'auto x = getenv("X");\n',
     "src/base/a.cpp:2: read the environment through base/env.hpp"),
    ("no licence", "src/gf/a.cpp", "int x;\n", "src/gf/a.cpp: does not start with an SPDX line"),
    ("no licence after #!", "tests/a.sh", "#!/bin/sh\n", "does not start with an SPDX line"),
    ("no licence in a hook", ".githooks/a", "#!/bin/sh\n", "does not start with an SPDX line"),
    ("machine path", "README.md", f"see {MACHINE_PATH}\n", "README.md:1: names a path"),
]


def write_tree(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run(*command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class SelfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_tidy(self):
        return run(sys.executable, TESTS / "tidy.py", self.root)

    def test_tidy_accepts_a_clean_tree(self):
        write_tree(self.root, CLEAN_TREE)
        self.assertEqual((0, "tidy: 12 files, 11 rules\n"), self.run_tidy())

    def test_tidy_names_each_violation(self):
        for name, path, content, message in PLANTED:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.root = pathlib.Path(folder)
                write_tree(self.root, {**CLEAN_TREE, path: content})
                status, output = self.run_tidy()
                self.assertEqual(1, status)
                self.assertIn(message, output)
                self.assertEqual(1, len(output.splitlines()), output)

    def test_tidy_names_a_high_median(self):
        write_tree(self.root, {f"src/gf/a{i}.cpp": SPDX + "\n" * 200 for i in range(3)})
        self.assertEqual((1, "the median file has 201 lines, limit 200\n"), self.run_tidy())

    def test_format(self):
        write_tree(self.root, {".clang-format": (TESTS.parent / ".clang-format").read_text()})
        write_tree(self.root, {"src/a.cpp": SPDX + "int f();\n"})
        self.assertEqual((0, ""), run(TESTS / "format.sh", self.root))
        write_tree(self.root, {"src/a.cpp": SPDX + "int  f( );\n"})
        status, output = run(TESTS / "format.sh", self.root)
        self.assertNotEqual(0, status)
        self.assertIn("src/a.cpp:2", output)

    def test_format_of_changed_files(self):
        if shutil.which("git") is None or run("git", "--version")[0] != 0:
            self.skipTest("there is no git")
        clean, bad = SPDX + "int f();\n", SPDX + "int  f( );\n"
        write_tree(self.root, {".clang-format": (TESTS.parent / ".clang-format").read_text()})
        write_tree(self.root, {"src/old.cpp": bad, "src/a b.cpp": clean, "src/gone.cpp": clean})
        git = ["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test"]
        for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
            self.assertEqual((0, ""), run(*git, *command))
        (self.root / "src/gone.cpp").unlink()
        self.assertEqual((0, ""), run(TESTS / "format.sh", "--changed", self.root))
        write_tree(self.root, {"src/a b.cpp": bad, "src/new.hpp": bad, "src/new.py": bad})
        status, output = run(TESTS / "format.sh", "--changed", self.root)
        self.assertNotEqual(0, status)
        self.assertEqual(["src/a b.cpp:2", "src/new.hpp:2"],
                         [line.split(": ")[0] for line in output.splitlines()])
        self.assertEqual((0, ""), run(TESTS / "format.sh", "--fix", "--changed", self.root))
        self.assertEqual(clean, (self.root / "src/new.hpp").read_text())
        self.assertEqual(bad, (self.root / "src/old.cpp").read_text())

    def test_lint(self):
        source = self.root / "src/a.cpp"
        command = {"directory": str(self.root), "file": str(source), "command": "c++ -c src/a.cpp"}
        write_tree(self.root, {".clang-tidy": (TESTS.parent / ".clang-tidy").read_text()})
        write_tree(self.root, {"compile_commands.json": json.dumps([command], indent=1)})
        write_tree(self.root, {"src/a.cpp": SPDX + "int good_name() { return 1; }\n"})
        lint = [TESTS / "lint.sh", self.root, self.root]
        self.assertEqual((0, "lint: 1 files are clean\n"), run(*lint))
        write_tree(self.root, {"src/a.cpp": SPDX + "int BadName() { return 1; }\n"})
        status, output = run(*lint)
        self.assertNotEqual(0, status)
        self.assertIn("invalid case style for function 'BadName'", output)


if __name__ == "__main__":
    unittest.main()
