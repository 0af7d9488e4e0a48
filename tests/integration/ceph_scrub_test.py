#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calpe ceph-scrub without Ceph: on files of shards, on exports of placement groups, and on
OSDs that a stand-in for ceph-objectstore-tool (ceph_scrub_osds.py) keeps in files.

usage: ceph_scrub_test.py REPOSITORY CALPE
"""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from ceph_scrub_osds import Osds, encode

root, calpe = map(lambda path: pathlib.Path(path).resolve(), sys.argv[1:3])
SEED = int(os.environ.get("CALPE_TEST_SEED") or random.randrange(1 << 30))
K, M, CHUNK = 4, 2, 512
PROFILE = f"plugin=isa technique=cauchy k={K} m={M} stripe_unit={CHUNK}"


class Scrub(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(SEED)
        self.environment = dict(os.environ, TMPDIR=str(self.folder))

    def run_scrub(self, *arguments, code=0):
        done = subprocess.run([calpe, "ceph-scrub", *map(str, arguments)], capture_output=True,
                              text=True, timeout=120, env=self.environment, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertNotIn("\x1b", done.stderr)
        return done

    def answer(self, *arguments, code=0):
        return json.loads(self.run_scrub(*arguments, "--json", code=code).stdout)

    def make_objects(self, count, name="object"):
        """Writes the shards of random objects to shards/; returns the content of each object."""
        (self.folder / "shards").mkdir(exist_ok=True)
        contents = {}
        for index in range(count):
            content = self.random.randbytes(self.random.randrange(1, 5 * K * CHUNK))
            contents[f"{name}{index}"] = content
            for shard, piece in enumerate(encode(content, K, M, CHUNK)):
                (self.folder / f"shards/{name}{index}.{shard}").write_bytes(piece)
        return contents

    def damage(self, path):
        """Changes one byte; returns the stripe that contains it."""
        content = bytearray(path.read_bytes())
        at = self.random.randrange(len(content))
        content[at] ^= self.random.randrange(1, 256)
        path.write_bytes(content)
        return at // CHUNK

    def shard_files(self):
        return {path.name: path.read_bytes() for path in (self.folder / "shards").iterdir()}

    def test_names_and_corrects_every_wrong_shard(self):
        contents = self.make_objects(24)
        sound = self.shard_files()
        self.assertEqual(self.answer(self.folder / "shards", "--profile", PROFILE)["sound"], 24)
        planted = {}
        for name in sorted(contents)[::2]:
            shard = self.random.randrange(K + M)
            planted[name] = (shard, self.damage(self.folder / f"shards/{name}.{shard}"))
        found = self.answer(self.folder / "shards", "--profile", PROFILE, code=1)
        self.assertEqual((found["state"], found["wrong"], found["sound"]), ("damaged", 12, 12))
        self.assertEqual(
            {f["object"]: (f["wrong"][0]["shard"], f["wrong"][0]["stripes"][0])
             for f in found["findings"]}, planted)
        said = self.run_scrub(self.folder / "shards", "--profile", PROFILE, code=1).stdout
        for name, (shard, stripe) in planted.items():
            self.assertRegex(said, rf"{name}: shard {shard} in .* is wrong in stripe {stripe} of")
        self.assertIn("--repair", said)
        elsewhere = self.folder / "corrected"
        self.answer(self.folder / "shards", "--profile", PROFILE, "--repair", "-o", elsewhere,
                    code=1)
        for path in elsewhere.iterdir():
            self.assertEqual(path.read_bytes(), sound[path.name])
        self.assertEqual(len(list(elsewhere.iterdir())), 12)
        repaired = self.answer(self.folder / "shards", "--profile", PROFILE, "--repair")
        self.assertEqual(repaired["repaired"], 12)
        self.assertEqual(self.shard_files(), sound)

    def test_restores_objects_from_any_k_shards(self):
        contents = self.make_objects(len(list(itertools.combinations(range(K + M), M))))
        for name, lost in zip(contents, itertools.combinations(range(K + M), M)):
            for shard in lost:
                (self.folder / f"shards/{name}.{shard}").unlink()
        target = self.folder / "restored"
        found = self.answer(self.folder / "shards", "--profile", PROFILE, "--restore", target)
        self.assertEqual(found["incomplete"], len(contents))
        for name, content in contents.items():
            restored = (target / name).read_bytes()
            self.assertEqual(restored[:len(content)], content)
            self.assertEqual(restored[len(content):].strip(b"\0"), b"")
            self.assertEqual(len(restored) % (K * CHUNK), 0)
        sized = self.folder / "sized"
        name = "object3"
        self.run_scrub(self.folder / "shards", "--profile", PROFILE, "--object", name, "--size",
                       len(contents[name]), "--restore", sized)
        self.assertEqual((sized / name).read_bytes(), contents[name])
        # Existing files are not overwritten.
        self.run_scrub(self.folder / "shards", "--profile", PROFILE, "--restore", target, code=4)

    def test_restores_through_a_wrong_shard(self):
        contents = self.make_objects(1)
        self.damage(self.folder / "shards/object0.1")
        self.run_scrub(self.folder / "shards", "--profile", PROFILE, "--size",
                       len(contents["object0"]), "--restore", self.folder / "out")
        self.assertEqual((self.folder / "out/object0").read_bytes(), contents["object0"])

    def test_identifies_the_code_without_a_profile(self):
        self.make_objects(20)
        self.damage(self.folder / "shards/object0.5")
        found = self.answer(self.folder / "shards", "--data", K, "--stripe-unit", CHUNK, code=1)
        self.assertIn("plugin=isa technique=cauchy", found["codes"][0]["identified"])
        self.assertEqual([f["object"] for f in found["findings"]], ["object0"])

    def test_too_many_wrong_shards_are_reported_as_lost(self):
        self.make_objects(1)
        shards = self.folder / "shards"
        for shard in (0, 3):
            (shards / f"object0.{shard}").write_bytes(
                self.random.randbytes((shards / "object0.1").stat().st_size))
        found = self.answer(shards, "--profile", PROFILE, "--restore", self.folder / "out", code=2)
        self.assertEqual(found["lost"], 1)
        self.assertFalse((self.folder / "out").exists())
        before = self.shard_files()
        self.run_scrub(shards, "--profile", PROFILE, "--repair", code=2)
        self.assertEqual(self.shard_files(), before)
        for shard in (0, 1, 2):
            (shards / f"object0.{shard}").unlink()
        said = self.run_scrub(shards, "--profile", PROFILE, code=2).stdout
        self.assertIn("only 3 of 6 shards are usable; expected at least 4", said)

    def test_usage_errors_name_the_fix(self):
        (self.folder / "empty").mkdir()
        (self.folder / "photo").write_bytes(b"no shard")
        for arguments, said in [
                ([self.folder / "empty"], "no shards in"),
                ([self.folder / "photo"], "expected a name such as object.0"),
                (["--osd", self.folder / "empty"], "not the data path of an OSD"),
                ([self.folder / "empty", "--osd", self.folder], "expected one of them"),
                ([self.folder / "empty", "-o", "x"], "--repair")]:
            errors = self.run_scrub(*arguments, code=3).stderr
            self.assertIn(said, errors)
        self.make_objects(2)
        for profile, said in [("plugin=shec k=4 m=2", "plugin is shec"),
                              ("plugin=jerasure k=4 m=2 w=16", "expected 8"),
                              ("plugin=isa m=2", "no k"), ("plugin=isa k=3 m=2", "below 5")]:
            errors = self.run_scrub(self.folder / "shards", "--profile", profile, code=3).stderr
            self.assertIn(said, errors)
        errors = self.run_scrub(self.folder / "shards", "--profile", PROFILE, "--size", 5,
                                code=3).stderr
        self.assertIn("--size is given for 2 objects", errors)

    def test_help_and_man_page_name_the_same_options(self):
        said = self.run_scrub("--help").stdout
        self.assertIn("Example:", said)
        page = (root / "man/calpe-ceph-scrub.1").read_text().replace("\\-", "-")
        in_help = set(re.findall(r"--[a-z]+[a-z-]*", said)) - {"--op"}
        in_page = set(re.findall(r"^\.[BI]+ (?:-o.*)?(--[a-z-]+)", page, re.M))
        self.assertEqual(in_help - {"--help"}, in_page)

    # --- OSDs -----------------------------------------------------------------------------------

    def make_osds(self, count, chunk=CHUNK, is_optimised=False):
        """Puts objects on stand-ins for OSDs; returns these and the --osd options for them."""
        osds = Osds(self.folder, K, M, chunk, is_optimised)
        for index in range(count):
            content = self.random.randbytes(self.random.randrange(1, 5 * K * chunk))
            osds.put(f"rbd_data.{index}", content)
        self.environment.update(osds.environment)
        return osds, [word for path in osds.paths() for word in ("--osd", path)]

    def test_corrects_wrong_shards_in_stopped_osds(self):
        osds, options = self.make_osds(12)
        self.assertEqual(self.answer(*options)["sound"], 12)
        sound = osds.images()
        planted = {}
        for name in sorted(osds.objects)[::2]:
            shard = self.random.randrange(K + M)
            planted[name] = (shard, self.damage(osds.shard_path(name, shard)))
        found = self.answer(*options, code=1)
        self.assertEqual({f["object"]: (f["wrong"][0]["shard"], f["wrong"][0]["stripes"][0])
                          for f in found["findings"]}, planted)
        for finding in found["findings"]:
            shard = finding["wrong"][0]["shard"]
            self.assertEqual(finding["wrong"][0]["place"],
                             str(osds.place(finding["object"], shard)))
        self.assertNotEqual(osds.images(), sound)
        one = sorted(planted)[0]
        self.assertEqual(self.answer(*options, "--object", one, code=1)["objects"], 1)
        repaired = self.answer(*options, "--repair")
        self.assertEqual(repaired["repaired"], 6)
        self.assertEqual(osds.images(), sound)
        saved, restored = self.folder / "saved", self.folder / "restored"
        self.answer(*options, "--pool", "images", "--save", saved, "--restore", restored)
        for name, content in osds.objects.items():
            self.assertEqual((restored / name).read_bytes(), content)
        self.assertEqual(self.answer(saved, "--profile", PROFILE)["sound"], 12)
        self.assertEqual([path for path in self.folder.iterdir() if "calpe" in path.name], [],
                         "temporary files are left")

    def test_a_stale_shard_is_not_reported_as_wrong(self):
        osds, options = self.make_osds(3)
        osds.make_older("rbd_data.1", 2)
        found = self.answer(*options, code=1)
        self.assertEqual((found["wrong"], found["incomplete"]), (0, 1))
        self.assertIn("has version", found["findings"][0]["notes"][0])

    def test_optimised_pools(self):
        """Shards have different lengths, and changes leave out some data shards."""
        chunk = 8192
        osds, options = self.make_osds(12, chunk, is_optimised=True)
        for size in (1, chunk, chunk + 1, K * chunk, K * chunk + 1):
            osds.put(f"size{size}", self.random.randbytes(size))
        for name in sorted(osds.objects)[::2]:
            osds.leave_out(name, self.random.sample(range(1, K), 2))
        sound, count = osds.images(), len(osds.objects)
        found = self.answer(*options)
        self.assertEqual(found["sound"], count)
        self.assertIn("allow_ec_optimizations", found["codes"][0]["code"])
        planted = {}
        for name in sorted(osds.objects)[::3]:
            shard = self.random.choice([0, K, K + 1])  # never empty
            planted[name] = shard
            self.damage(osds.shard_path(name, shard))
        found = self.answer(*options, code=1)
        self.assertEqual({f["object"]: f["wrong"][0]["shard"] for f in found["findings"]}, planted)
        self.assertEqual(self.answer(*options, "--repair")["repaired"], len(planted))
        self.assertEqual(osds.images(), sound)
        osds.shard_path("rbd_data.0", 0).write_bytes(b"short")
        found = self.answer(*options, "--repair")
        self.assertTrue(found["findings"][0]["wrong"][0]["has_other_length"])
        self.assertEqual(osds.images(), sound)

        profile = f"plugin=isa technique=cauchy k={K} m={M} stripe_unit={chunk}"
        saved, restored = self.folder / "saved", self.folder / "restored"
        osds.export_all(self.folder / "exports")  # their metadata has no OSD map
        found = self.answer(self.folder / "exports", "--profile", profile, "--restore", restored,
                            "--save", saved)
        self.assertEqual(found["sound"], count)
        for name, content in osds.objects.items():
            self.assertEqual((restored / name).read_bytes(), content)
        self.assertEqual(self.answer(saved, "--profile", profile)["sound"], count)
        self.assertEqual(self.answer(saved, "--data", K, "--stripe-unit", chunk)["sound"], count)

    def test_a_stale_shard_of_an_optimised_pool_is_not_reported_as_wrong(self):
        osds, options = self.make_osds(3, 4096, is_optimised=True)
        osds.leave_out("rbd_data.1", [1, 3])
        osds.make_older("rbd_data.1", 3)
        osds.make_older("rbd_data.2", 3)
        found = self.answer(*options, code=1)
        self.assertEqual((found["wrong"], found["incomplete"]), (0, 2))
        self.assertIn("has version 7'4; expected 7'5", found["findings"][0]["notes"][0])

    def test_files_of_unknown_length_are_not_guessed(self):
        shards = self.folder / "shards"
        content = self.random.randbytes(K * 4096 + 1)
        shards.mkdir()
        for shard, piece in enumerate(encode(content, K, M, 4096)):
            (shards / f"object.{shard}").write_bytes(piece if shard in (0, K, K + 1)
                                                     else piece[:4096])
        (shards / "object.0").write_bytes((shards / "object.0").read_bytes()[:4096])
        before = self.shard_files()
        profile = ["--profile", f"plugin=isa technique=cauchy k={K} m={M}"]
        said = self.run_scrub(shards, *profile, "--repair", code=2).stdout
        self.assertIn("give the object's size with --size", said)
        self.assertEqual(self.shard_files(), before)
        found = self.answer(shards, *profile, "--size", len(content), "--repair", "--restore",
                            self.folder / "out")
        self.assertEqual(found["findings"][0]["wrong"][0]["shard"], 0)
        self.assertEqual((self.folder / "out/object").read_bytes(), content)
        self.assertEqual((shards / "object.0").stat().st_size, 8192)

    def test_a_shard_that_denies_its_own_version_is_not_dropped(self):
        osds, _ = self.make_osds(1)
        about = next(self.folder.glob("osd0/*/*.json"))
        text = json.loads(about.read_text())
        text.update(version=text["version"] + 1, others={"0": text["version"]})
        about.write_text(json.dumps(text))
        osds.export_all(self.folder / "exports")
        self.run_scrub(self.folder / "exports", code=2)

    def test_exports_from_several_hosts(self):
        osds, _ = self.make_osds(6)
        self.damage(osds.shard_path("rbd_data.2", 4))
        exports = osds.export_all(self.folder / "exports")
        found = self.answer(self.folder / "exports", "--profile", PROFILE, code=1)
        self.assertEqual([(f["object"], f["wrong"][0]["shard"]) for f in found["findings"]],
                         [("rbd_data.2", 4)])
        errors = self.run_scrub(self.folder / "exports", "--profile", PROFILE, "--repair",
                                code=3).stderr
        self.assertIn("use -o DIR", errors)
        group = osds.shard_path("rbd_data.2", 4).parent.name.split("s")[0]
        other = next(path for path in exports if not path.name.startswith(group))
        other.write_bytes(other.read_bytes()[:-5])
        said = self.run_scrub(self.folder / "exports", "--profile", PROFILE, code=1).stderr
        self.assertIn("not a complete export", said)

    def test_unusable_osds_are_refused_with_the_fix(self):
        osds, options = self.make_osds(1)
        osds.set_running(3)
        errors = self.run_scrub(*options, code=4).stderr
        self.assertIn("osd.3", errors)
        self.assertIn("systemctl stop ceph-osd@3", errors)
        osds.set_stopped(3)
        self.assertIn("expected an erasure-coded pool: images",
                      self.run_scrub(*options, "--pool", "other", code=3).stderr)
        self.assertIn("placement groups", self.run_scrub(*options, "--pgid", "9.9", code=3).stderr)
        self.assertIn("has an object nowhere",
                      self.run_scrub(*options, "--object", "nowhere", code=3).stderr)
        self.damage(osds.shard_path("rbd_data.0", 1))
        osds.forget_writes()
        self.assertIn("the bytes read back differ",
                      self.run_scrub(*options, "--repair", code=4).stderr)
        self.environment["PATH"] = str(self.folder)
        self.assertIn("ceph-objectstore-tool is not in PATH",
                      self.run_scrub(*options, code=4).stderr)


if __name__ == "__main__":
    print(f"CALPE_TEST_SEED={SEED}")
    unittest.main(argv=sys.argv[:1], verbosity=2)
