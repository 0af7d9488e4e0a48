# SPDX-License-Identifier: Apache-2.0
"""Both halves of an upgrade: daemons of one release write, and those of a newer one continue on the
same OSDs. Each half runs where its release is installed."""
import pickle
import signal

from pool import Pool
from pools import KEYS
from report import require, require_equal, say
import steps

RELEASES = {18: "reef", 19: "squid", 20: "tentacle"}


def before(cluster, _):
    plain, images = Pool(cluster, "plain", KEYS), Pool(cluster, "images", KEYS)
    images.allow_overwrites()
    for pool in (plain, images):
        steps.fill(pool)
    steps.overwrite(images, "healthy")
    expected = {pool.name: pool.objects for pool in (plain, images)}
    (cluster.root / "expected").write_bytes(pickle.dumps(expected))
    cluster.stop(signal.SIGTERM)
    say(f"stopped the cluster of Ceph {cluster.release}")


def after(cluster, _):
    versions = cluster.monitor("versions")["osd"]
    require(list(versions.values()) == [cluster.osds], f"the OSDs are {versions}")
    expected = pickle.loads((cluster.root / "expected").read_bytes())
    pools = {name: Pool(cluster, name) for name in expected}
    for name, pool in pools.items():
        pool.objects = expected[name]
        require_equal(pool, "after the upgrade")
    cluster.monitor("osd require-osd-release", release=RELEASES[cluster.release])
    images = pools["images"]
    images.has_overwrites = True
    victims = steps.kill_two(images)
    for pool in pools.values():
        pool.wait_active()
        require_equal(pool, "two OSDs dead")
    steps.bring_back(cluster, victims)
    for pool in pools.values():
        pool.wait_clean()
        pool.optimise()
        pool.wait_clean()
        require_equal(pool, "optimised")
    steps.overwrite(images, "optimised")
    steps.lose_each(images)
    steps.lose_and_return(images)
    for pool in pools.values():
        pool.wait_clean()
        require_equal(pool, "at the end")
