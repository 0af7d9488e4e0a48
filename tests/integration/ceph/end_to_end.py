#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests pools with plugin=calpe in a real cluster; compares every object at every step.

Usage: end_to_end.py whole|twin|tutorial PLUGIN SHIPPED_PLUGINS CALPE
whole: runs docs/tutorial-ceph.md, then writes objects, rebuilds lost OSDs, repairs a flipped bit
and overwrites images at random.
tutorial: runs only docs/tutorial-ceph.md.
twin: PLUGIN flips one bit of what it rebuilds, and the test must detect it. Runs with cephx.
Exit code 77: a part of Ceph is missing.
"""
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

try:
    from cluster import Cluster
    from pool import Pool
    from tutorial import run_tutorial
except ImportError as error:
    print(f"skipped: {error}, install python3-rados and use Debian's Python")
    sys.exit(77)

OSDS = 8
SIZES = [1, 100, 4095, 4096, 4097, 16383, 16385, 65536, 100000, 1048576, 4194305]
LAST = f"object{len(SIZES) - 1}"
OPERATIONS = 400
started = time.monotonic()


def say(text):
    print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)


def require(condition, text):
    if not condition:
        raise AssertionError(text)
    say(text)


def require_equal(pool, when):
    wrong = pool.wrong()
    if wrong:
        raise AssertionError(f"{when}: wrong are {wrong}, daemons that ended: "
                             f"{pool.cluster.dead()}")
    say(f"{when}: {len(pool.objects)} objects of {pool.name} are equal")


def fill(pool):
    for index, size in enumerate(SIZES):
        pool.put(f"object{index}", size)
    require_equal(pool, "healthy")


def kill_two(cluster, pool):
    """Kills two OSDs that hold data shards of the last object."""
    _, acting = pool.locate(LAST)
    victims = [acting[0], acting[2]]
    for osd in victims:
        cluster.stop_osd(osd, signal.SIGKILL)
    cluster.wait_for_up(OSDS - 2)
    say(f"killed osd.{victims[0]} and osd.{victims[1]}")
    return victims


def bring_back(cluster, victims):
    for osd in victims:
        cluster.start_osd(osd)
    cluster.wait_for_up(OSDS)


def lose_and_return(cluster, pool):
    placement = pool.placement()
    victims = kill_two(cluster, pool)
    pool.wait_active()
    require_equal(pool, "two OSDs dead")
    pool.put("late", 3000000)
    require_equal(pool, "written while degraded")
    cluster.monitor("osd out", ids=list(map(str, victims)))
    pool.wait_clean(lambda acting: not set(acting) & {*victims, 2147483647})
    require_equal(pool, "recovered onto others")
    bring_back(cluster, victims)
    cluster.monitor("osd in", ids=list(map(str, victims)))
    pool.wait_clean(lambda acting: acting in placement.values())
    require_equal(pool, "back and backfilled")


def flip_and_repair(cluster, pool):
    require(all("inconsistent" not in state for state in pool.deep_scrub()), "deep scrub: clean")
    shard = 1
    group, acting = pool.locate(LAST)
    cluster.stop_osd(acting[shard])
    cluster.wait_for_up(OSDS - 1)
    path = cluster.root / "shard"
    tool = ["ceph-objectstore-tool", "--data-path", f"{cluster.root}/osd{acting[shard]}", "--pgid",
            f"{group}s{shard}", LAST]
    cluster.run(*tool, "get-bytes", str(path))
    content = bytearray(path.read_bytes())
    content[5000] ^= 0x40
    path.write_bytes(content)
    cluster.run(*tool, "set-bytes", str(path))
    bring_back(cluster, [acting[shard]])
    pool.wait_clean()
    found = any("inconsistent" in state for state in pool.deep_scrub())
    require(found, "deep scrub: the flipped bit is found")
    pool.repair(group)
    require(all("inconsistent" not in state for state in pool.deep_scrub()), "repaired")
    require_equal(pool, "after the repair")


def overwrite(pool, count):
    choice = random.Random(count)
    for _ in range(count):
        name = f"random{choice.randrange(12)}"
        if name in pool.objects and choice.random() < 0.15:
            pool.truncate(name, choice.randrange(200000))
        else:
            pool.overwrite(name, choice.randrange(150000), choice.choice([1, 100, 4096, 50000]))


def tutorial_test(cluster, calpe):
    say(f"{run_tutorial(cluster, calpe)} commands of the tutorial ran")


def whole_test(cluster, calpe):
    tutorial_test(cluster, calpe)
    pool = Pool(cluster, "plain", ["plugin=calpe", "k=4", "m=2"], groups=8)
    require(pool.profile["profile"] == "hybrid", f"the monitor keeps {pool.profile}")
    fill(pool)
    lose_and_return(cluster, pool)
    flip_and_repair(cluster, pool)
    local = Pool(cluster, "local", ["plugin=calpe", "profile=lrc", "k=4", "m=3", "l=2",
                                    "stripe_unit=16K"])
    fill(local)
    images = Pool(cluster, "images", ["plugin=calpe", "k=4", "m=2"])
    images.set("allow_ec_overwrites", "true")
    fill(images)
    overwrite(images, OPERATIONS // 2)
    require_equal(images, f"{OPERATIONS // 2} random operations")
    victims = kill_two(cluster, images)
    for pool in (images, local):
        pool.wait_active()
        require_equal(pool, "two OSDs dead")
    overwrite(images, OPERATIONS - OPERATIONS // 2)
    require_equal(images, f"{OPERATIONS - OPERATIONS // 2} more while degraded")
    bring_back(cluster, victims)
    for pool in (images, local):
        pool.wait_clean()
        require_equal(pool, "back")
    require(not cluster.dead(), "no daemon exited unexpectedly")


def twin_is_seen(cluster, _):
    pool = Pool(cluster, "twin", ["plugin=calpe", "k=4", "m=2"])
    fill(pool)
    kill_two(cluster, pool)
    pool.wait_active()
    wrong = pool.wrong()
    # Other objects may have lost no shard.
    require(LAST in wrong, f"the broken twin is detected: wrong are {wrong}")


def main():
    name, plugin, shipped_plugins, calpe = sys.argv[1:5]
    test, has_cephx = {"whole": (whole_test, False), "twin": (twin_is_seen, True),
                       "tutorial": (tutorial_test, False)}[name]
    missing = [name for name in ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-objectstore-tool")
               if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {missing or 'nothing else'}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "cluster")
        with Cluster(root, plugin, shipped_plugins, OSDS, has_cephx) as cluster:
            say(f"{OSDS} OSDs are up{', with cephx' if has_cephx else ''}")
            test(cluster, calpe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
