# SPDX-License-Identifier: Apache-2.0
"""Scenarios in one pool each: with and without overwrites, optimised, with planted wrong bits."""
from pool import Pool
from report import require, require_equal
import steps

KEYS = ["plugin=calpe", "k=4", "m=2"]
LOCAL = ["plugin=calpe", "profile=lrc", "k=4", "m=3", "l=2", "stripe_unit=16K"]


def plain(cluster, _):
    pool = Pool(cluster, "plain", KEYS, groups=8)
    require(pool.profile["profile"] == "hybrid", f"the monitor keeps {pool.profile}")
    steps.fill(pool)
    steps.lose_and_return(pool)
    steps.flip_and_repair(pool, steps.flip_in_store)
    local = Pool(cluster, "local", LOCAL)
    steps.fill(local)
    victims = steps.kill_two(local)
    local.wait_active()
    require_equal(local, "two OSDs dead")
    steps.bring_back(cluster, victims)
    local.wait_clean()


def change_and_lose(pool):
    """All steps, in a pool that allows overwrites."""
    steps.fill(pool)
    steps.overwrite(pool, "healthy")
    steps.lose_each(pool)
    steps.lose_and_return(pool)
    steps.flip_and_repair(pool, steps.flip_on_disk)


def overwrites(cluster, _):
    pool = Pool(cluster, "images", KEYS)
    pool.allow_overwrites()
    change_and_lose(pool)


def make_optimised(cluster):
    pool = Pool(cluster, "optimised", KEYS)
    pool.allow_overwrites()
    pool.optimise()
    return pool


def optimised(cluster, _):
    change_and_lose(make_optimised(cluster))
    # Optimised reads assume that any k shards suffice.
    local = Pool(cluster, "local", LOCAL)
    try:
        local.optimise()
    except RuntimeError as error:
        require("ec optimizations not currently supported" in str(error), f"refused: {error}")
    else:
        raise AssertionError("a code with local groups was accepted as optimised")


def delta(cluster, _):
    change_and_lose(make_optimised(cluster))
    calls = cluster.delta_calls()
    require(calls > steps.OPERATIONS, f"apply_delta was called {calls} times")


def wrong_delta(cluster, _):
    """The test above must fail."""
    try:
        change_and_lose(make_optimised(cluster))
    except AssertionError as error:
        require("other bytes" in str(error), f"the wrong delta is detected: {error}")
    else:
        raise AssertionError(f"{cluster.delta_calls()} wrong deltas were not detected")


def wrong_rebuild(cluster, _):
    pool = Pool(cluster, "twin", KEYS)
    steps.fill(pool)
    steps.kill_two(pool)
    pool.wait_active()
    # Ceph knows a checksum of the whole object and reports an error; not so for a part of it.
    expected = pool.objects[steps.LAST][:-1]
    wrong = sum(a != b for a, b in zip(pool.handle.read(steps.LAST, len(expected)), expected))
    require(wrong > 0, f"the wrong rebuild is detected: {wrong} bytes of {steps.LAST}")
    require(steps.LAST in pool.wrong(), "and by Ceph")
