#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of all OSDs for writes to pools of calpe and isa, in one cluster.

Usage: cpu_time.py PLUGIN SHIPPED_PLUGINS [ROUNDS]
Pools take turns within a round, so that what else the machine does hits all alike. Prints medians
over the rounds; not a test. Needs an idle machine for comparable values.
"""
import os
import pathlib
import statistics
import sys
import tempfile

from cluster import Cluster
from pool import Pool

OSDS = 6
OBJECTS, OBJECT_BYTES = 8, 4 << 20
OVERWRITES, OVERWRITE_BYTES = 200, 16 << 10
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(cluster):
    """User and system time of all OSDs so far."""
    total = 0
    for name, daemon in cluster.daemons.items():
        if name.startswith("ceph-osd"):
            fields = pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def make_pools(cluster):
    """Names and pools. Optimised pools exist from Ceph 20 on."""
    release = int(cluster.monitor("version")["version"].split()[2].split(".")[0])
    pools = {}
    for is_optimised in [False, True] if release >= 20 else [False]:
        for plugin in ["calpe", "isa"]:
            name = plugin + ("-optimised" if is_optimised else "")
            pools[name] = Pool(cluster, name, [f"plugin={plugin}", "k=4", "m=2", "stripe_unit=16K"])
            pools[name].set("allow_ec_overwrites", "true")
            if is_optimised:
                pools[name].set("allow_ec_optimizations", "true")
    return pools


def write_objects(pool):
    for index in range(OBJECTS):
        pool.put(f"object{index}", OBJECT_BYTES)


def overwrite(pool):
    for index in range(OVERWRITES):
        slots = OBJECT_BYTES // OVERWRITE_BYTES
        pool.overwrite(f"object{index % OBJECTS}", pool.random.randrange(slots) * OVERWRITE_BYTES,
                       OVERWRITE_BYTES)


def measure(cluster, work, pool):
    before = cpu_seconds(cluster)
    work(pool)
    return cpu_seconds(cluster) - before


def main():
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder, \
            Cluster(pathlib.Path(folder, "cluster"), sys.argv[1], sys.argv[2], OSDS) as cluster:
        pools = make_pools(cluster)
        for pool in pools.values():
            write_objects(pool)
        times = {name: ([], []) for name in pools}
        for _ in range(rounds):
            for name, pool in pools.items():
                times[name][0].append(measure(cluster, write_objects, pool))
                times[name][1].append(measure(cluster, overwrite, pool))
        print("pool             s of CPU per GB written  ms of CPU per overwrite of 16 KiB")
        for name, (writes, overwrites) in times.items():
            per_gb = statistics.median(writes) / (OBJECTS * OBJECT_BYTES) * 1e9
            per_overwrite = statistics.median(overwrites) / OVERWRITES * 1e3
            print(f"{name:16} {per_gb:23.2f}  {per_overwrite:33.2f}")


main()
