#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/abi/check.sh refuses each planted break of the C ABI and accepts compatible changes.

Usage: abi_selftest.py <repository>
The library is calpe.h with a stub for every function, because only the interface is compared and
stubs compile fast.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
HEADER = (REPOSITORY / "include/calpe/calpe.h").read_text()
CHECK = REPOSITORY / "packaging/abi/check.sh"

# (what, before, after); each `before` must occur exactly once in calpe.h.
BREAKING = [
    ("a function is removed", "CALPE_API uint32_t calpe_codec_threads(const calpe_codec* codec);",
     ""),
    ("a function is renamed", "calpe_codec_threads(const", "calpe_codec_thread_count(const"),
    ("a parameter is wider", "uint16_t data_index, const uint16_t* parity,\n",
     "uint32_t data_index, const uint16_t* parity,\n"),
    ("a parameter is gone", "calpe_parity_bytes(const calpe_codec* codec, size_t shard_bytes);",
     "calpe_parity_bytes(const calpe_codec* codec);"),
    ("a result has another type", "CALPE_API size_t calpe_shard_bytes_multiple",
     "CALPE_API uint32_t calpe_shard_bytes_multiple"),
    ("a field is inserted", "  uint32_t layout;        /*",
     "  uint64_t planted;\n  uint32_t layout;        /*"),
    ("a field is removed", "  uint32_t packet_bytes;  /* packets only; 0 = 512 */\n", ""),
    ("a field is wider", "uint32_t plan_cache_entries;", "uint64_t plan_cache_entries;"),
    ("a field at the end has another type", "  uint64_t matrix_hash;   /*",
     "  double matrix_hash;   /*"),
    ("the last field is removed",
     "  uint32_t effort;             /* CALPE_EFFORT_FAST, ...; layout packets only */\n", ""),
    ("two fields change places", "  uint64_t minors;     /* evaluated */\n  uint32_t dead_count;",
     "  uint32_t dead_count;\n  uint64_t minors;"),
    ("an array is longer", "  char reason[192];", "  char reason[256];"),
    ("a structure without struct_size grows", "} calpe_stripe;",
     "  uint32_t planted;\n} calpe_stripe;"),
    ("calpe_error grows", "} calpe_error;", "  uint32_t planted;\n} calpe_error;"),
]
COMPATIBLE = [
    ("nothing", "", ""),
    ("a function is added", "CALPE_API uint32_t calpe_abi_version(void);",
     "CALPE_API uint32_t calpe_abi_version(void);\nCALPE_API int calpe_planted(int value);"),
    ("calpe_spec grows at its end", "} calpe_spec;", "  uint32_t planted;\n} calpe_spec;"),
    ("calpe_options grows at its end", "} calpe_options;",
     "  uint32_t planted;\n} calpe_options;"),
    ("calpe_proof grows at its end", "} calpe_proof;", "  uint32_t planted;\n} calpe_proof;"),
    ("a parameter has another name", "(void* target, const void* addend,",
     "(void* goal, const void* addend,"),
]


def stubs(header):
    """Stub definitions of all functions that the header declares."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = re.sub(r"^#define CALPE_API.*", "", text, flags=re.MULTILINE)
    found = re.findall(r"\bCALPE_API\b([^;{}]*\));", text)
    return "#include <calpe/calpe.h>\n" + "".join(
        f"{head} {{ __builtin_trap(); }}\n" for head in found)


class SelfTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.baseline = self.folder / "baseline.abi"
        self.check(HEADER, "--update")

    def check(self, header, *options):
        """Exit code and output of check.sh for a library with this header."""
        (self.folder / "calpe").mkdir(exist_ok=True)
        (self.folder / "calpe/calpe.h").write_text(header)
        (self.folder / "stubs.c").write_text(stubs(header))
        library = self.folder / "libcalpe.so.1"
        subprocess.run(
            ["cc", "-g", "-shared", "-fPIC", "-Wl,-soname,libcalpe.so.1", f"-I{self.folder}",
             self.folder / "stubs.c", "-o", library], check=True)
        done = subprocess.run(
            [CHECK, *options, library, self.folder / "calpe", self.baseline],
            capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def plant(self, before, after):
        self.assertEqual(1 if before else len(HEADER) + 1, HEADER.count(before), before)
        return self.check(HEADER.replace(before, after) if before else HEADER)

    def test_breaking_changes(self):
        for what, before, after in BREAKING:
            with self.subTest(what):
                status, output = self.plant(before, after)
                self.assertEqual(1, status, output)
                self.assertIn("not compatible", output)

    def test_compatible_changes(self):
        for what, before, after in COMPATIBLE:
            with self.subTest(what):
                status, output = self.plant(before, after)
                self.assertEqual(0, status, output)

    def test_library_without_debug_information(self):
        subprocess.run(["strip", self.folder / "libcalpe.so.1"], check=True)
        done = subprocess.run([CHECK, self.folder / "libcalpe.so.1", self.folder / "calpe",
                               self.baseline], capture_output=True, text=True, check=False)
        self.assertEqual(2, done.returncode, done.stdout + done.stderr)

    def test_which_structures_may_grow(self):
        """Only structures with struct_size may grow."""
        allowed = re.search(r"\^calpe_\(([a-z_|]+)\)\$",
                            (REPOSITORY / "packaging/abi/allowed.abignore").read_text())
        growing = re.findall(r"typedef struct calpe_(\w+) \{\s*size_t struct_size;", HEADER)
        self.assertEqual(sorted(growing), sorted(allowed[1].split("|")))


if __name__ == "__main__":
    if not shutil.which("abidw"):
        print("abi_selftest: skipped, abidw is not installed (package abigail-tools)")
        sys.exit(77)
    print(f"abi_selftest: {len(BREAKING)} breaking changes, {len(COMPATIBLE)} compatible ones")
    unittest.main()
