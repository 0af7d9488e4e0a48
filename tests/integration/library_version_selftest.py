#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one wrong version at a time; library_version_test must report it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = ('extern "C" int calpe_first() { return 1; }\n'
          "namespace calpe { int version() { return 1; } }\n")
MAP = ('CALPE_1 { global: calpe_*; local: *; };\n'
       'CALPE_CXX_0.1 { global: extern "C++" { calpe::*; }; };\n')
FILES = {
    "include/calpe/calpe.h": "#define CALPE_ABI_VERSION 1\n",
    "packaging/debian/control": "Provides: calpe-cxx-abi-0.1\n",
    "packaging/debian/changelog": "calpe (0.1.0-1) unstable; urgency=medium\n",
    "packaging/debian/libcalpe1.symbols": "libcalpe.so.1 libcalpe1 #MINVER#\n| calpe-cxx-abi-0.1\n"
                                          " CALPE_1@CALPE_1 0.1.0\n calpe_first@CALPE_1 0.1.0\n",
}


class SelfTest(unittest.TestCase):
    def check(self, map_text=MAP, soname="libcalpe.so.1", **changed):
        """Exit code and output for a correct library and files, except for the given change."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in FILES.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(changed.get(path.rpartition("/")[2].split(".")[0], text))
            (root / "source.cpp").write_text(SOURCE)
            (root / "library.map").write_text(map_text)
            subprocess.run(
                ["g++", "-shared", "-fPIC", root / "source.cpp", "-o", root / "library.so",
                 f"-Wl,-soname,{soname},--version-script={root}/library.map"], check=True)
            done = subprocess.run(
                [sys.executable, "-B", HERE / "library_version_test.py", root / "library.so", root,
                 "0.1.0"], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def test_sound(self):
        status, output = self.check()
        self.assertEqual(0, status, output)

    def test_wrong(self):
        symbols = FILES["packaging/debian/libcalpe1.symbols"]
        for expected, changes in [
            ("soname: expected libcalpe.so.1", {"soname": "libcalpe.so.0"}),
            ("calpe_first: expected CALPE_1", {"map_text": MAP.replace("CALPE_1 ", "CALPE_2 ")}),
            ("expected CALPE_CXX_0.1", {"map_text": MAP.replace("CXX_0.1", "CXX_0.2")}),
            ("debian/control: expected", {"control": "Provides: calpe-cxx-abi-0.2\n"}),
            ("debian/changelog: expected 0.1.0", {"changelog": "calpe (0.0.9-1) unstable\n"}),
            ("no line ` calpe_first@", {"libcalpe1": symbols.replace("calpe_first", "calpe_old")}),
            ("calpe_old is not exported", {"libcalpe1": symbols + " calpe_old@CALPE_1 0.1.0\n"}),
        ]:
            with self.subTest(expected):
                status, output = self.check(**changes)
                self.assertEqual(1, status, output)
                self.assertIn(expected, output)


if __name__ == "__main__":
    unittest.main()
