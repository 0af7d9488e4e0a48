#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loss patterns through Ceph's own program: tool_test.py OUR_DIR OTHER_DIR SHIPPED RELEASE

ceph-erasure-code-tool starts once per pattern, which is slow. So all patterns of 4+2 run, and a
sample of 8+3, 10+4 and 12+4; with CALPE_NIGHTLY=1 all of them. calpe_ceph_host always runs all.
"""
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

OUR_FOLDER, OTHER_FOLDER, SHIPPED_FOLDER = (sys.argv.pop(1) for _ in range(3))
SHARDS_MAX = 20 if int(sys.argv.pop(1)) < 17 else 32
SAMPLE = 25
STRIPE_UNIT = 4096


def tool(plugins, folder, *arguments):
    """Runs the program; it writes only to `folder`, even if it crashes."""
    options = [f"--erasure-code-dir={plugins}", f"--crash-dir={folder}", f"--log-file={folder}/log"]
    return subprocess.run(["ceph-erasure-code-tool", *options, *arguments], capture_output=True,
                          text=True, cwd=folder, env=dict(os.environ, CEPH_CONF=os.devnull))


def losses(shards, parity):
    return [lost for count in range(1, parity + 1)
            for lost in itertools.combinations(range(shards), count)]


def join(shards):
    return ",".join(map(str, shards))


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def decode(self, profile, shards, content, lost):
        """Uses one directory per pattern, because the program uses fixed file names."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            left = [shard for shard in range(shards) if shard not in lost]
            for shard in left:
                (folder / f"object.{shard}").symlink_to(self.folder / f"object.{shard}")
            result = tool(OUR_FOLDER, folder, "decode", profile, str(STRIPE_UNIT), join(left),
                          "object")
            if result.returncode != 0:
                return f"{lost}: exit {result.returncode} {result.stderr[-500:]}"
            decoded = (folder / "object").read_bytes()
            return "" if decoded[:len(content)] == content else f"{lost}: other bytes"

    def require_parity(self):
        """Ceph 20's program writes no parity, with any plugin."""
        (self.folder / "zeros").write_bytes(bytes(2 * STRIPE_UNIT))
        encoded = tool(SHIPPED_FOLDER, self.folder, "encode", "plugin=isa,k=2,m=1",
                       str(STRIPE_UNIT), "0,1,2", "zeros")
        self.assertEqual(encoded.returncode, 0, encoded.stderr)
        if not (self.folder / "zeros.2").exists():
            self.skipTest("this ceph-erasure-code-tool writes no parity, also with isa")

    def check(self, data, parity, patterns, sample):
        self.require_parity()
        profile = f"plugin=calpe,k={data},m={parity}"
        content = random.Random(data).randbytes(3 * data * STRIPE_UNIT - 1000)
        (self.folder / "object").write_bytes(content)
        encoded = tool(OUR_FOLDER, self.folder, "encode", profile, str(STRIPE_UNIT),
                       join(range(data + parity)), "object")
        self.assertEqual(encoded.returncode, 0, encoded.stderr)
        tried = losses(data + parity, parity)
        self.assertEqual(len(tried), patterns)
        if sample and not os.environ.get("CALPE_NIGHTLY"):
            tried = random.Random(parity).sample(tried, sample)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = list(filter(None, pool.map(
                lambda lost: self.decode(profile, data + parity, content, lost), tried)))
        self.assertEqual(wrong, [])
        print(f"{data}+{parity}: {len(tried)} of {patterns} patterns")

    def test_4_2(self):
        self.check(4, 2, 21, 0)

    def test_8_3(self):
        self.check(8, 3, 231, SAMPLE)

    def test_10_4(self):
        self.check(10, 4, 1470, SAMPLE)

    def test_12_4(self):
        self.check(12, 4, 2516, SAMPLE)

    def test_too_wide_is_refused_with_the_reason(self):
        wide = [tool(OUR_FOLDER, self.folder, "calc-chunk-size", f"plugin=calpe,k={data},m=4",
                     "4096") for data in (SHARDS_MAX - 4, SHARDS_MAX - 3)]
        self.assertEqual(wide[0].returncode, 0, wide[0].stderr)
        self.assertNotEqual(wide[1].returncode, 0)
        self.assertIn(f"k + m is {SHARDS_MAX + 1}; expected at most {SHARDS_MAX}",
                      wide[1].stdout + wide[1].stderr)

    def test_another_version_is_refused(self):
        result = tool(OTHER_FOLDER, self.folder, "calc-chunk-size", "plugin=calpe,k=4,m=2", "4096")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("it claims to be 99.9.9", result.stdout + result.stderr)


unittest.main(verbosity=2)
