# SPDX-License-Identifier: Apache-2.0
"""Scenarios of placement: more than 20 shards, and several shards in one failure domain."""
import collections

from pool import Pool
from report import require, require_equal
import steps

WIDE = ["plugin=calpe", "k=18", "m=4"]
DOMAINS = ["plugin=calpe", "k=4", "m=2", "crush-failure-domain=host",
           "crush-num-failure-domains=3", "crush-osds-per-failure-domain=2"]
REFUSAL = "Ceph before 19 has no rule with several OSDs per failure domain"


def wide(cluster, _):
    """In Ceph 16 such a pool would never become active."""
    pool = Pool(cluster, "wide", WIDE, groups=2)
    steps.fill(pool)
    widths = {len(set(acting)) for acting in pool.placement().values()}
    require(widths == {22}, "each object is on 22 OSDs")
    victims = steps.kill_two(pool)
    pool.wait_active()
    require_equal(pool, "two OSDs dead")
    steps.bring_back(cluster, victims)
    pool.wait_clean()
    require_equal(pool, "back")


def domains(cluster, _):
    if cluster.release < 19:
        require_refusal(cluster)
        return
    cluster.monitor("osd set-require-min-compat-client", version="squid")
    pool = Pool(cluster, "domains", DOMAINS)
    rules = {rule["rule_name"]: rule for rule in cluster.monitor("osd crush rule dump")}
    require(rules["domains"]["type"] == 5, f"the rule is {rules['domains']}")
    for acting in pool.placement().values():
        per_host = collections.Counter(map(cluster.host_of, acting))
        if set(per_host.values()) != {2} or len(per_host) != 3:
            raise AssertionError(f"{acting} is {per_host}; expected two on each of three hosts")
    require(True, "two shards on each of three hosts")
    steps.fill(pool)
    for host in range(cluster.hosts):
        victims = [osd for osd in range(cluster.osds) if osd % cluster.hosts == host]
        steps.kill(cluster, victims)
        pool.wait_active()
        require_equal(pool, f"host{host} dead")
        steps.bring_back(cluster, victims)
        pool.wait_clean()


def require_refusal(cluster):
    try:
        Pool(cluster, "domains", DOMAINS)
    except RuntimeError as error:
        require(REFUSAL in str(error), f"refused: {error}")
    else:
        raise AssertionError("a rule that this release does not have was accepted")
