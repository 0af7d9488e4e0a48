#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests calpe ceph-scrub in a real cluster, on wrong shards that a deep scrub misses.

Usage: scrub.py CALPE PLUGIN SHIPPED_PLUGINS [--keys KEYS] [--optimised]
PLUGIN: Calpe's plugin, or "none" if the keys name another one.
A pool with overwrites has 100 objects; 50 get a shard with one wrong byte and a right checksum. A
deep scrub finds nothing, and reads are wrong. On the stopped OSDs, calpe ceph-scrub must report
exactly these 50, --repair must correct them, and all objects must read equal. Exports that were
made of one OSD at a time, while clients write, show the same 50. Shards that missed a change are
not reported as wrong. Exports restore every object without m of its shards.
Exit code 77: a part of Ceph is missing.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import rados
    from cluster import Cluster
    from pool import Pool
    from report import require, say
except ImportError as error:
    print(f"skipped: {error}, install python3-rados and use Debian's Python")
    sys.exit(77)

SEED = int(os.environ.get("CALPE_TEST_SEED") or random.randrange(1 << 30))
OSDS, OBJECTS, PLANTED = 6, 100, 50


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("calpe")
    parser.add_argument("plugin")
    parser.add_argument("shipped_plugins")
    parser.add_argument("--keys", default="plugin=calpe k=4 m=2")
    parser.add_argument("--optimised", action="store_true", help="set allow_ec_optimizations")
    return parser.parse_args()


class Images:
    """A pool, the location of its shards, and OSDs that are all stopped or all running."""

    def __init__(self, cluster, given):
        self.cluster, self.calpe, self.is_optimised = cluster, given.calpe, given.optimised
        self.choice = random.Random(SEED)
        self.pool = Pool(cluster, "images", given.keys.split(), groups=2)
        self.pool.allow_overwrites()
        details = next(pool for pool in cluster.monitor("osd dump")["pools"]
                       if pool["pool_name"] == "images")
        self.data = int(self.pool.profile["k"])
        self.parity = int(self.pool.profile["m"])
        self.chunk = details["stripe_width"] // self.data
        self.keys = f"{given.keys} stripe_unit={self.chunk}"
        self.fill()
        self.change()
        # In the object info until the client is gone.
        self.watch = self.pool.handle.watch("image1", lambda *_: None)
        self.clones = self.make_clones()
        self.places = {name: self.pool.locate(name) for name in self.pool.objects}
        require(not self.pool.wrong(), f"{OBJECTS} objects are changed and read equal")

    def fill(self):
        width = self.data * self.chunk
        sizes = [1, 100, self.chunk - 1, self.chunk, self.chunk + 1, 2 * self.chunk, width - 1,
                 width, width + 1, 3 * width, 3 * width + self.chunk + 5]
        while len(sizes) < OBJECTS:
            sizes.append(self.choice.randrange(1, 6 * width))
        # The last objects are from before the option, so that their shards are padded.
        for index in range(OBJECTS - 10, OBJECTS):
            self.pool.put(f"image{index}", sizes[index])
        if self.is_optimised:
            self.pool.optimise()
            self.pool.wait_clean()
        for index in range(OBJECTS - 10):
            self.pool.put(f"image{index}", sizes[index])
        kind = "optimised" if self.is_optimised else "padded"
        say(f"{OBJECTS} objects are written, {kind}, with chunks of {self.chunk} bytes")

    def change(self):
        """Changes objects in all ways; small changes leave out shards in an optimised pool."""
        width = self.data * self.chunk
        for index in range(0, OBJECTS, 3):
            for _ in range(self.choice.randrange(1, 4)):
                self.pool.overwrite(f"image{index}", self.choice.randrange(3 * width), 3000)
        for index in range(11, OBJECTS, 5):
            self.pool.truncate(f"image{index}", self.choice.randrange(1, 7 * width))
        for index in range(12, OBJECTS, 7):
            self.pool.append(f"image{index}", self.choice.randrange(1, width))
        for index in range(0, OBJECTS, 9):
            self.pool.handle.set_xattr(f"image{index}", "note", b"x")
        self.pool.overwrite("image3", 0, 1)

    def make_clones(self):
        """Changes objects after a snapshot, so that Ceph keeps clones of them."""
        self.pool.handle.create_snap("before")
        names = [f"image{index}" for index in range(0, OBJECTS, 10)]
        clones = {f"{name}@1": self.pool.objects[name] for name in names}
        for name in names:
            self.pool.overwrite(name, self.choice.randrange(50000), 3000)
        return clones

    def stop(self):
        for osd in range(OSDS):
            if f"ceph-osd.{osd}" in self.cluster.daemons:
                self.cluster.stop_osd(osd)

    def start(self):
        for osd in range(OSDS):
            self.cluster.start_osd(osd)
        self.cluster.wait_for_up(OSDS)
        self.pool.wait_clean()
        if self.watch is not None:
            with contextlib.suppress(rados.Error):  # it may have ended with the OSD
                self.watch.close()
            self.watch = None

    def run(self, *options, code):
        done = subprocess.run([self.calpe, "ceph-scrub", *options, "--json"], check=False,
                              env=self.cluster.environment, capture_output=True, text=True,
                              timeout=400)
        if done.returncode not in (code if isinstance(code, tuple) else (code,)):
            raise AssertionError(f"{options}: exit {done.returncode}; expected {code}: "
                                 f"{done.stdout[:3000]}{done.stderr[:3000]}")
        return json.loads(done.stdout) if done.stdout else None, done.stderr

    def scrub(self, *options, code):
        osds = [word for osd in range(OSDS) for word in ("--osd", self.path(osd))]
        return self.run(*osds, *options, code=code)

    def path(self, osd):
        return f"{self.cluster.root}/osd{osd}"

    def tool(self, osd, *words):
        return self.cluster.run("ceph-objectstore-tool", "--no-mon-config", "--data-path",
                                self.path(osd), *words).stdout

    def left_out(self, name):
        """Returns the shards that the last changes of an object left out."""
        group, acting = self.places[name]
        about = json.loads(self.tool(acting[0], "--head", "--pgid", f"{group}s0", name, "dump"))
        return about["info"].get("shard_versions", [])

    def on_osds(self, work, queues):
        """Works on all OSDs in parallel; the tool takes a second per run, mostly waiting."""
        def work_on(osd):
            for entry in queues[osd]:
                work(osd, entry)
        with concurrent.futures.ThreadPoolExecutor(OSDS) as threads:
            list(threads.map(work_on, queues))

    def plant(self, saved):
        """Plants one wrong byte per object; returns object -> (shard, OSD, stripe)."""
        planted, queues = {}, {osd: [] for osd in range(OSDS)}
        # The end of the watch is a write, which would copy a wrong shard to a clone.
        names = self.choice.sample(sorted(set(self.pool.objects) - {"image1"}), PLANTED)
        for index, name in enumerate(names):
            group, acting = self.places[name]
            shard = acting.index(index % OSDS)  # spread evenly; OSDs are written in parallel
            if not (saved / f"{name}.{shard}").stat().st_size:
                shard = self.data  # parity; small objects of optimised pools have empty shards
            content = bytearray((saved / f"{name}.{shard}").read_bytes())
            at = self.choice.randrange(len(content))
            content[at] ^= self.choice.randrange(1, 256)
            (saved / f"{name}.{shard}").write_bytes(content)
            planted[name] = (shard, self.path(acting[shard]), at // self.chunk)
            queues[acting[shard]].append((f"{group}s{shard}", name, str(saved / f"{name}.{shard}")))
        self.on_osds(lambda osd, entry: self.tool(osd, "--head", "--pgid", entry[0], entry[1],
                                                  "set-bytes", entry[2]), queues)
        return planted

    def groups(self):
        """Returns the shards of placement groups that each OSD has, such as 1.0s2."""
        queues = {osd: [] for osd in range(OSDS)}
        for group, acting in {group: acting for group, acting in self.places.values()}.items():
            for shard, osd in enumerate(acting):
                queues[osd].append(f"{group}s{shard}")
        return queues

    def export(self, queues, folder):
        folder.mkdir(exist_ok=True)
        self.on_osds(lambda osd, group: self.tool(osd, "--op", "export", "--pgid", group, "--file",
                                                  f"{folder}/{group}"), queues)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_sound(images, folder):
    require(bool(images.left_out("image3")) == images.is_optimised,
            "small changes leave out shards in an optimised pool only")
    whole = {**images.pool.objects, **images.clones}
    found, _ = images.scrub("--save", f"{folder}/saved", "--restore", f"{folder}/out", code=0)
    require(found["sound"] == len(whole), f"ceph-scrub: {len(whole)} of {len(whole)} are sound")
    require(contents(folder / "out") == whole, "and restored without the cluster")
    found, _ = images.run(f"{folder}/saved", "--profile", images.keys, code=0)
    require(found["sound"] == len(whole), "also as files of single shards")
    lost = images.choice.sample(range(OSDS), images.parity)
    images.export({osd: [] if osd in lost else groups for osd, groups in images.groups().items()},
                  folder / "exports")
    images.run(f"{folder}/exports", "--profile", images.keys, "--restore", f"{folder}/from", code=0)
    require(contents(folder / "from") == whole, "and restored from exports of k shards")


def wrong_in(found, describe):
    return {f["object"]: describe(f["wrong"][0]) for f in found["findings"]
            if len(f["wrong"]) == 1}


def require_same(found, planted):
    differences = sorted(set(found.items()) ^ set(planted.items()))
    if differences:
        raise AssertionError(f"found or planted only: {differences}")


def test_rolling(images, folder, planted):
    """Stops one OSD at a time for its export, while the pool serves writes to other objects."""
    writable = sorted(set(images.pool.objects) - set(planted))
    changed = set()

    def write():
        name = images.choice.choice(writable)
        images.pool.overwrite(name, images.choice.randrange(60000), 3000)
        changed.update([name, f"{name}@1"])
    for osd, groups in images.groups().items():
        images.cluster.stop_osd(osd)
        images.cluster.wait_for_up(OSDS - 1)
        images.pool.wait_active()
        write()
        images.export({osd: groups}, folder / "rolling")
        images.cluster.start_osd(osd)
        images.cluster.wait_for_up(OSDS)
        images.pool.wait_clean()
        write()
    # Too few shards of an object may have the same version, which is exit code 2.
    found, _ = images.run(f"{folder}/rolling", "--profile", images.keys, code=(1, 2))
    named = wrong_in(found, lambda wrong: (wrong["shard"], wrong["stripes"][0]))
    others = {f["object"] for f in found["findings"] if not f["wrong"]}
    require_same(named, {name: (shard, stripe) for name, (shard, _, stripe) in planted.items()})
    require(others and others <= changed, f"exports of one OSD at a time: {len(named)} of "
            f"{PLANTED} reported, {len(others)} objects changed meanwhile")


def test_wrong(images, folder):
    planted = images.plant(folder / "saved")
    say(f"planted {PLANTED} wrong shards")
    images.start()
    states = images.pool.deep_scrub()
    require(all("inconsistent" not in state for state in states), "deep scrub finds nothing")
    wrong = images.pool.wrong()
    require(wrong and set(wrong) <= set(planted),
            f"{len(wrong)} objects read wrong")
    test_rolling(images, folder, planted)
    images.stop()

    found, _ = images.scrub("--repair", code=0)
    named = wrong_in(found, lambda wrong: (wrong["shard"], wrong["place"], wrong["stripes"][0]))
    require_same(named, planted)
    require(found["sound"] == found["objects"] - PLANTED,
            f"ceph-scrub: {len(named)} of {PLANTED} reported, {found['sound']} others are "
            "sound")
    require(found["repaired"] == PLANTED, f"ceph-scrub: {PLANTED} of {PLANTED} corrected")
    images.start()
    wrong = images.pool.wrong()
    require(not wrong, f"{OBJECTS} objects read equal, but {wrong}" if wrong
            else f"{OBJECTS} of {OBJECTS} objects read equal")
    states = images.pool.deep_scrub()
    require(all("inconsistent" not in state for state in states), "deep scrub accepts the repair")


def test_stale(images):
    """Shards of a stopped OSD miss changes; Ceph recovers them, so they are not wrong."""
    images.cluster.stop_osd(2)
    images.cluster.wait_for_up(OSDS - 1)
    images.pool.wait_active()
    changed = {f"image{index}" for index in range(0, OBJECTS, 4)}
    for name in sorted(changed):
        images.pool.overwrite(name, images.choice.randrange(60000), 3000)
    images.stop()
    found, _ = images.scrub(code=1)
    stale = {f["object"] for f in found["findings"] if "has version" in "".join(f["notes"])}
    lacking = {f["object"] for f in found["findings"]} - stale
    require(found["incomplete"] == len(stale) + len(lacking) and stale and stale <= changed
            and lacking <= {f"{name}@1" for name in changed},
            f"ceph-scrub: {len(stale)} of {len(changed)} changed objects have a stale shard, "
            f"{len(lacking)} new clones lack one")
    images.start()
    require(not images.pool.wrong(), "recovered objects read equal")
    images.stop()
    found, _ = images.scrub(code=0)
    require(found["sound"] == found["objects"], f"ceph-scrub: {found['sound']} are sound")


def test(cluster, folder, given):
    images = Images(cluster, given)
    _, said = images.scrub(code=4)
    require("systemctl stop ceph-osd@" in said, "running OSDs are refused, with the fix")
    images.stop()
    test_sound(images, folder)
    test_wrong(images, folder)
    test_stale(images)
    require(not cluster.dead(), "no daemon exited unexpectedly")


def main():
    given = arguments()
    missing = [name for name in ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-objectstore-tool",
                                 "osdmaptool") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {missing or 'nothing else'}")
        return 77
    print(f"CALPE_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with Cluster(folder / "cluster", given.plugin, given.shipped_plugins, OSDS) as cluster:
            say(f"{OSDS} OSDs are up")
            test(cluster, folder, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
