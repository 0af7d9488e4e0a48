#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests calpe ceph-scrub in a real cluster, on wrong shards that a deep scrub misses.

Usage: scrub.py CALPE PLUGIN SHIPPED_PLUGINS
A pool with overwrites has 100 objects; 50 get a shard with one wrong byte and a right checksum. A
deep scrub finds nothing, and reads are wrong. On the stopped OSDs, calpe ceph-scrub must report
exactly these 50, --repair must correct them, and all objects must read equal.
Exit code 77: a part of Ceph is missing.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

try:
    from cluster import Cluster
    from pool import Pool
    from report import require, say
except ImportError as error:
    print(f"skipped: {error}, install python3-rados and use Debian's Python")
    sys.exit(77)

CALPE, PLUGIN, SHIPPED_PLUGINS = sys.argv[1:4]
SEED = int(os.environ.get("CALPE_TEST_SEED") or random.randrange(1 << 30))
OSDS, OBJECTS, PLANTED, CHUNK = 6, 100, 50, 4096


class Images:
    """A pool, the location of its shards, and OSDs that are all stopped or all running."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.choice = random.Random(SEED)
        self.pool = Pool(cluster, "images", ["plugin=calpe", "k=4", "m=2"], groups=2)
        self.pool.allow_overwrites()
        for index in range(OBJECTS):
            self.pool.put(f"image{index}", self.choice.randrange(1, 100000))
        for index in range(0, OBJECTS, 3):
            self.pool.overwrite(f"image{index}", self.choice.randrange(50000), 3000)
        for index in range(1, OBJECTS, 5):
            self.pool.truncate(f"image{index}", self.choice.randrange(1, 120000))
        self.places = {name: self.pool.locate(name) for name in self.pool.objects}
        require(not self.pool.wrong(), f"{OBJECTS} objects are written and read equal")

    def stop(self):
        for osd in range(OSDS):
            self.cluster.stop_osd(osd)

    def start(self):
        for osd in range(OSDS):
            self.cluster.start_osd(osd)
        self.cluster.wait_for_up(OSDS)
        self.pool.wait_clean()

    def scrub(self, *options, code):
        osds = [word for osd in range(OSDS) for word in ("--osd", self.path(osd))]
        done = subprocess.run([CALPE, "ceph-scrub", *osds, *options, "--json"], check=False,
                              env=self.cluster.environment, capture_output=True, text=True,
                              timeout=400)
        if done.returncode != code:
            raise AssertionError(f"{options}: exit {done.returncode}; expected {code}: "
                                 f"{done.stdout[:3000]}{done.stderr[:3000]}")
        return json.loads(done.stdout), done.stderr

    def path(self, osd):
        return f"{self.cluster.root}/osd{osd}"

    def plant(self, saved):
        """Plants one wrong byte per object; returns object -> (shard, OSD, stripe)."""
        planted, queues = {}, {osd: [] for osd in range(OSDS)}
        names = self.choice.sample(sorted(self.pool.objects), PLANTED)
        for index, name in enumerate(names):
            group, acting = self.places[name]
            shard = acting.index(index % OSDS)  # spread evenly; OSDs are written in parallel
            content = bytearray((saved / f"{name}.{shard}").read_bytes())
            at = self.choice.randrange(len(content))
            content[at] ^= self.choice.randrange(1, 256)
            (saved / f"{name}.{shard}").write_bytes(content)
            planted[name] = (shard, self.path(acting[shard]), at // CHUNK)
            queues[acting[shard]].append((f"{group}s{shard}", name, str(saved / f"{name}.{shard}")))
        # Write to all OSDs in parallel; the tool takes a second per shard, mostly waiting.
        with concurrent.futures.ThreadPoolExecutor(OSDS) as pool:
            list(pool.map(self.set_bytes, queues.keys(), queues.values()))
        return planted

    def set_bytes(self, osd, queue):
        for group, name, file in queue:
            self.cluster.run("ceph-objectstore-tool", "--no-mon-config", "--data-path",
                             self.path(osd), "--pgid", group, name, "set-bytes", file)


def test(cluster, folder):
    images = Images(cluster)
    _, said = images.scrub(code=4)
    require("systemctl stop ceph-osd@" in said, "running OSDs are refused, with the fix")
    images.stop()
    found, _ = images.scrub("--save", f"{folder}/saved", "--restore", f"{folder}/out", code=0)
    require(found["sound"] == OBJECTS, f"ceph-scrub: {OBJECTS} of {OBJECTS} are sound")
    restored = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    require(restored == images.pool.objects, "and restored without the cluster")
    planted = images.plant(folder / "saved")
    say(f"planted {PLANTED} wrong shards")

    images.start()
    states = images.pool.deep_scrub()
    require(all("inconsistent" not in state for state in states), "deep scrub finds nothing")
    wrong = images.pool.wrong()
    require(wrong and set(wrong) <= set(planted),
            f"{len(wrong)} objects read wrong")
    images.stop()

    found, _ = images.scrub("--repair", code=0)
    named = {f["object"]: (f["wrong"][0]["shard"], f["wrong"][0]["place"],
                           f["wrong"][0]["stripes"][0])
             for f in found["findings"] if len(f["wrong"]) == 1}
    if named != planted:
        raise AssertionError(f"planted {planted}, found {found['findings']}")
    require(found["sound"] == OBJECTS - PLANTED,
            f"ceph-scrub: {len(named)} of {PLANTED} reported, {found['sound']} others are "
            "sound")
    require(found["repaired"] == PLANTED, f"ceph-scrub: {PLANTED} of {PLANTED} corrected")
    images.start()
    wrong = images.pool.wrong()
    require(not wrong, f"{OBJECTS} objects read equal, but {wrong}" if wrong
            else f"{OBJECTS} of {OBJECTS} objects read equal")
    require(not cluster.dead(), "no daemon exited unexpectedly")


def main():
    missing = [name for name in ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-objectstore-tool",
                                 "osdmaptool") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {missing or 'nothing else'}")
        return 77
    print(f"CALPE_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with Cluster(folder / "cluster", PLUGIN, SHIPPED_PLUGINS, OSDS) as cluster:
            say(f"{OSDS} OSDs are up")
            test(cluster, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
