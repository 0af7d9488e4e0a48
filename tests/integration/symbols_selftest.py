#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds small libraries with one symbol too many or too few; the tests must report it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

C_HEADER = """#define CALPE_API
CALPE_API int calpe_first(void); /* not calpe_other(void) */
"""
CPP_HEADER = """
namespace calpe {
class Codec {
 public:
  static int create(int options = {});
  ~Codec();
  Codec() noexcept = default;
  int inline_member() const { return 1; }

 private:
  struct Impl;
};
int version();
}  // namespace calpe
"""
SOUND = """
#include <calpe/codec.hpp>
extern "C" int calpe_first() { return 1; }
int calpe::Codec::create(int) { return 1; }
calpe::Codec::~Codec() = default;
int calpe::version() { return 1; }
"""


def run(*command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class SelfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "calpe").mkdir()
        (self.root / "calpe/calpe.h").write_text(C_HEADER)
        (self.root / "calpe/codec.hpp").write_text(CPP_HEADER)

    def compile(self, name, source, *flags):
        (self.root / "source.cpp").write_text(source)
        command = ["g++", "-std=c++20", "-fPIC", *flags, f"-I{self.root}"]
        self.assertEqual((0, ""), run(*command, self.root / "source.cpp", "-o", self.root / name))
        return self.root / name

    def check_library(self, source):
        library = self.compile("libcalpe.so", source, "-shared")
        return run(sys.executable, HERE / "symbols_test.py", library, self.root)

    def test_sound_library(self):
        self.assertEqual(0, self.check_library(SOUND)[0])

    def test_leaks(self):
        for leak in [
            "namespace calpe { void inner() {} }",
            'extern "C" void calpe_second() {}',
            "struct calpe::Codec::Impl { void step(); }; void calpe::Codec::Impl::step() {}",
            "#include <vector>\ntemplate class std::vector<calpe::Codec*>;",
        ]:
            with self.subTest(leak):
                status, output = self.check_library(SOUND + leak)
                self.assertEqual(1, status)
                self.assertIn("exported, but in no public header", output)

    def test_missing(self):
        for line, name in [(4, "calpe::Codec::create"), (6, "calpe::version"), (3, "calpe_first")]:
            with self.subTest(name):
                lines = SOUND.splitlines()
                del lines[line - 1]
                status, output = self.check_library("\n".join(lines))
                self.assertEqual(1, status)
                self.assertIn(f"not exported: {name}\n", output)

    def test_kernel_objects(self):
        table = ("namespace calpe::backend::cpu { extern const int kernels_avx2; "
                 "const int kernels_avx2 = 1; }\n")
        weak = "inline int shared() { return 1; }\nint (*pointer())() { return shared; }\n"
        for source, expected in [(table, 0), (table + weak, 1), ("int other;", 1)]:
            kernel = self.compile("kernels_avx2.cpp.o", source, "-c")
            status, output = run(sys.executable, HERE / "kernel_symbols_test.py", kernel)
            self.assertEqual(expected, status, output)


if __name__ == "__main__":
    unittest.main()
