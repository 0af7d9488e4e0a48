#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calpe ceph-scrub reads shards written by Ceph's own plugins: techniques_test.py CALPE

ceph-erasure-code-tool encodes with the plugins of the distribution. For every technique, including
deprecated ones: the profile gives the same code, the code is detected without it, a wrong shard is
named and corrected, and objects are restored from k shards.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

CALPE = str(pathlib.Path(sys.argv.pop(1)).resolve())
SEED = int(os.environ.get("CALPE_TEST_SEED") or random.randrange(1 << 30))
# Keys, k, m and the stripe unit.
TECHNIQUES = [
    ("plugin=isa,technique=reed_sol_van", 4, 2, 4096),
    ("plugin=isa,technique=reed_sol_van", 10, 4, 4096),
    ("plugin=isa,technique=cauchy", 4, 2, 4096),
    ("plugin=isa,technique=cauchy", 8, 3, 16384),
    ("plugin=isa,technique=cauchy", 3, 1, 4096),
    ("plugin=jerasure,technique=reed_sol_van", 4, 2, 4096),
    ("plugin=jerasure,technique=reed_sol_van,w=8", 8, 3, 4096),
    ("plugin=jerasure,technique=reed_sol_r6_op", 5, 2, 4096),
    ("plugin=jerasure,technique=cauchy_orig,packetsize=64", 4, 2, 4096),
    ("plugin=jerasure,technique=cauchy_orig,packetsize=512", 6, 3, 16384),
    ("plugin=jerasure,technique=cauchy_good,packetsize=512", 4, 2, 16384),
    ("plugin=jerasure,technique=cauchy_good", 8, 3, 65536),
    ("plugin=jerasure,technique=cauchy_good,w=4,packetsize=64", 4, 2, 4096),
]


def keys_of(text):
    return dict(word.split("=") for word in text.split(","))


class Techniques(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(SEED)

    def encode(self, keys, data, parity, unit):
        """Shards in their own directory, and their content."""
        folder = self.folder / "shards"
        folder.mkdir()
        content = self.random.randbytes(3 * data * unit - self.random.randrange(1, unit))
        (folder / "object").write_bytes(content)
        done = subprocess.run(
            ["ceph-erasure-code-tool", f"--crash-dir={self.folder}",
             f"--log-file={self.folder}/log", "encode", f"{keys},k={data},m={parity}", str(unit),
             ",".join(map(str, range(data + parity))), "object"],
            capture_output=True, text=True, cwd=folder, check=False,
            env=dict(os.environ, CEPH_CONF=os.devnull))
        self.assertEqual(done.returncode, 0, done.stderr)
        (folder / "object").unlink()
        return folder, content

    def scrub(self, *arguments, code=0):
        done = subprocess.run([CALPE, "ceph-scrub", *map(str, arguments), "--json"], check=False,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def check(self, keys, data, parity, unit):
        folder, content = self.encode(keys, data, parity, unit)
        profile = f"{keys},k={data},m={parity},stripe_unit={unit}"
        found = self.scrub(folder, "--profile", profile)
        self.assertEqual((found["sound"], found["shards"]), (1, data + parity))
        self.check_identified(keys, data, parity, self.scrub(folder, "--data", data))
        shards = {path: path.read_bytes() for path in folder.iterdir()}
        if parity >= 2:
            self.check_wrong(folder, profile, unit, shards)
        lost = self.random.sample(range(data + parity), parity)
        for shard in lost:
            (folder / f"object.{shard}").unlink()
        target = self.folder / "restored"
        self.scrub(folder, "--profile", profile, "--size", len(content), "--restore", target)
        self.assertEqual((target / "object").read_bytes(), content, f"without {lost}")

    def check_identified(self, keys, data, parity, found):
        names = [dict(word.split("=") for word in name.split())
                 for name in found["codes"][0]["identified"]]
        wanted = keys_of(keys)
        same = [name for name in names if all(
            name.get(key, wanted[key]) == wanted[key] for key in wanted) and
            name["plugin"] == wanted["plugin"]]
        self.assertTrue(same, f"{keys} {data}+{parity}: only {names}")

    def check_wrong(self, folder, profile, unit, shards):
        path = self.random.choice(sorted(shards))
        content = bytearray(shards[path])
        at = self.random.randrange(len(content))
        content[at] ^= self.random.randrange(1, 256)
        path.write_bytes(content)
        found = self.scrub(folder, "--profile", profile, code=1)
        wrong = found["findings"][0]["wrong"]
        self.assertEqual([(w["shard"], w["stripes"]) for w in wrong],
                         [(int(path.suffix[1:]), [at // unit])])
        self.scrub(folder, "--profile", profile, "--repair")
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, shards)

    def test_chunks_are_as_long_as_the_plugins_make_them(self):
        """Without a stripe unit the plugin rounds up Ceph's default."""
        for keys, data, parity, _ in TECHNIQUES:
            with self.subTest(keys=keys):
                profile = f"{keys},k={data},m={parity}"
                done = subprocess.run(
                    ["ceph-erasure-code-tool", f"--crash-dir={self.folder}",
                     f"--log-file={self.folder}/log", "calc-chunk-size", profile,
                     str(data * 4096)], capture_output=True, text=True, check=False,
                    env=dict(os.environ, CEPH_CONF=os.devnull))
                chunk = int(done.stdout.split()[-1])
                for shard in range(data + parity):
                    (self.folder / f"zeros.{shard}").write_bytes(bytes(chunk))
                found = self.scrub(*(self.folder / f"zeros.{shard}"
                                     for shard in range(data + parity)), "--profile", profile)
                self.assertIn(f"chunks of {chunk} bytes", found["codes"][0]["code"])


def add_tests():
    for keys, data, parity, unit in TECHNIQUES:
        words = keys.replace("plugin=", "").replace("technique=", "").replace(",", "_")
        name = f"test_{words.replace('=', '')}_{data}_{parity}"
        setattr(Techniques, name,
                lambda self, given=(keys, data, parity, unit): self.check(*given))


add_tests()
print(f"CALPE_TEST_SEED={SEED}")
unittest.main(verbosity=2)
