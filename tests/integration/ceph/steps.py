# SPDX-License-Identifier: Apache-2.0
"""Steps of the tests: write to a pool, lose OSDs, damage a shard. Each compares all objects."""
import mmap
import signal

from pool import NOWHERE
from report import require, require_equal, say

SIZES = [1, 100, 4095, 4096, 4097, 16383, 16385, 65536, 100000, 1048576, 4194305]
LAST = f"object{len(SIZES) - 1}"
OPERATIONS = 200  # twice in each pool with overwrites
PIECES = [1, 100, 4096, 50000]
SHARD = 1  # the damaged shard, which holds data


def fill(pool):
    for index, size in enumerate(SIZES):
        pool.put(f"object{index}", size)
    require_equal(pool, "healthy")


def overwrite(pool, when):
    """Overwrites, extends and truncates objects at random."""
    choice = pool.random
    for _ in range(OPERATIONS):
        name = f"random{choice.randrange(12)}"
        if name in pool.objects and choice.random() < 0.15:
            pool.truncate(name, choice.randrange(200000))
        else:
            pool.overwrite(name, choice.randrange(150000), choice.choice(PIECES))
    require_equal(pool, f"{OPERATIONS} random operations, {when}")


def kill(cluster, victims):
    for osd in victims:
        cluster.stop_osd(osd, signal.SIGKILL)
    cluster.wait_for_up(cluster.osds - len(victims))
    say("killed " + ", ".join(f"osd.{osd}" for osd in victims))


def kill_two(pool, name=LAST):
    """Kills two OSDs that hold data shards of an object."""
    _, acting = pool.locate(name)
    victims = [acting[0], acting[2]]
    kill(pool.cluster, victims)
    return victims


def bring_back(cluster, victims):
    for osd in victims:
        cluster.start_osd(osd)
    cluster.wait_for_up(cluster.osds)


def lose_and_return(pool):
    """Two OSDs die; the pool recovers onto others, and fills them again when they return."""
    cluster, placement = pool.cluster, pool.placement()
    victims = kill_two(pool)
    pool.wait_active()
    require_equal(pool, "two OSDs dead")
    pool.put("late", 3000000)
    require_equal(pool, "written while degraded")
    if pool.has_overwrites:
        overwrite(pool, "while degraded")
    cluster.monitor("osd out", ids=list(map(str, victims)))
    pool.wait_clean(lambda acting: not set(acting) & {*victims, NOWHERE})
    require_equal(pool, "recovered onto others")
    bring_back(cluster, victims)
    cluster.monitor("osd in", ids=list(map(str, victims)))
    pool.wait_clean(lambda acting: acting in placement.values())
    require_equal(pool, "back and backfilled")


def lose_each(pool):
    """Every OSD is dead once, so that every data shard is rebuilt from parity once."""
    for first in range(0, pool.cluster.osds, 2):
        victims = [first, first + 1]
        kill(pool.cluster, victims)
        pool.wait_active()
        require_equal(pool, "two OSDs dead")
        bring_back(pool.cluster, victims)
        pool.wait_clean()


def flip_in_store(pool, osd, group):
    """Flips a bit of a shard and lets BlueStore compute a new checksum."""
    cluster = pool.cluster
    path = cluster.root / "shard"
    tool = ["ceph-objectstore-tool", "--data-path", f"{cluster.root}/osd{osd}", "--pgid",
            f"{group}s{SHARD}", LAST]
    cluster.run(*tool, "get-bytes", str(path))
    content = bytearray(path.read_bytes())
    content[5000] ^= 0x40
    path.write_bytes(content)
    cluster.run(*tool, "set-bytes", str(path))


def flip_on_disk(pool, osd, _):
    """Flips a bit of a shard on the disk of the OSD, so that BlueStore's checksum is wrong. A deep
    scrub of a pool with overwrites has no other checksum."""
    unit = 4096
    chunk = pool.objects[LAST][SHARD * unit:(SHARD + 1) * unit]
    with open(f"{pool.cluster.root}/osd{osd}/block", "r+b") as file, \
            mmap.mmap(file.fileno(), 0) as disk:
        found = 0
        at = disk.find(chunk)
        while at >= 0:  # the space of earlier copies may be free, but not overwritten yet
            found += 1
            disk[at + 1000] ^= 0x40
            at = disk.find(chunk, at + 1)
    require(found > 0, f"flipped a bit in {found} copies of a chunk")


def flip_and_repair(pool, flip):
    cluster = pool.cluster
    require(all("inconsistent" not in state for state in pool.deep_scrub()), "deep scrub: clean")
    group, acting = pool.locate(LAST)
    cluster.stop_osd(acting[SHARD])
    cluster.wait_for_up(cluster.osds - 1)
    flip(pool, acting[SHARD], group)
    bring_back(cluster, [acting[SHARD]])
    pool.wait_clean()
    found = any("inconsistent" in state for state in pool.deep_scrub())
    require(found, "deep scrub: the flipped bit is found")
    require_equal(pool, "with a flipped bit")
    pool.repair(group)
    require(all("inconsistent" not in state for state in pool.deep_scrub()), "repaired")
    require_equal(pool, "after the repair")
