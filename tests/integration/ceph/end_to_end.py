#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests pools with plugin=calpe in a real cluster; compares every object at every step.

Usage: end_to_end.py SCENARIO PLUGIN SHIPPED_PLUGINS [CALPE] [--directory DIR]
The release of Ceph is that of the installed daemons. CALPE is the command, for the tutorial. DIR
keeps the cluster, for the two halves of the upgrade. Exit code 77: skipped, with the reason.
"""
import argparse
import dataclasses
import os
import pathlib
import shutil
import sys
import tempfile
import typing

try:
    from cluster import Cluster, installed_release
    import clients
    import placement
    import pools
    import upgrade
    from report import require, say
    from tutorial import run_tutorial
except ImportError as error:
    print(f"skipped: {error}, install python3-rados and use Debian's Python")
    sys.exit(77)


@dataclasses.dataclass
class Scenario:
    """run: called with the cluster and the arguments."""
    what: str
    run: typing.Callable
    since: int = 16
    osds: int = 8
    has_cephx: bool = False
    hosts: int = 0
    settings: str = ""
    variables: dict = dataclasses.field(default_factory=dict)
    programs: tuple = ()


def tutorial(cluster, arguments):
    say(f"{run_tutorial(cluster, arguments.calpe)} commands of the tutorial ran")


def whole(cluster, arguments):
    tutorial(cluster, arguments)
    pools.plain(cluster, arguments)
    pools.overwrites(cluster, arguments)


# Every write that can be a parity delta write is one.
DELTA_WRITES = "ec_pdw_write_mode = 2\n"
SCENARIOS = {
    "tutorial": Scenario("docs/tutorial-ceph.md", tutorial),
    "whole": Scenario("tutorial, plain and overwrites in one cluster", whole),
    "plain": Scenario("pools without overwrites", pools.plain),
    "overwrites": Scenario("a pool with overwrites", pools.overwrites),
    "optimised": Scenario("a pool with allow_ec_optimizations", pools.optimised, since=20),
    "delta": Scenario("parity delta writes, counted; PLUGIN is the twin", pools.delta, since=20,
                      settings=DELTA_WRITES),
    "wrong-delta": Scenario("the twin applies a wrong delta, which must be detected",
                            pools.wrong_delta, since=20, settings=DELTA_WRITES,
                            variables={"CALPE_TWIN": "wrong-delta"}),
    "twin": Scenario("the twin rebuilds a wrong bit, which must be detected", pools.wrong_rebuild,
                     has_cephx=True, variables={"CALPE_TWIN": "wrong-rebuild"}),
    "wide": Scenario("22 shards", placement.wide, since=18, osds=23),
    "domains": Scenario("two shards on each of three hosts", placement.domains, since=18, osds=9,
                        hosts=3),
    "upgrade-from": Scenario("first half of an upgrade: writes", upgrade.before, since=18),
    "upgrade-to": Scenario("second half: a newer release on the same OSDs", upgrade.after,
                           since=20),
    "rgw": Scenario("objects through S3", clients.rgw, since=18, has_cephx=True,
                    programs=("radosgw", "radosgw-admin")),
    "rbd": Scenario("block devices under fio", clients.rbd, since=18, programs=("rbd", "fio")),
}


def parse():
    parser = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:13}{one.what}" for name, one in SCENARIOS.items()))
    parser.add_argument("scenario", choices=SCENARIOS, metavar="SCENARIO")
    parser.add_argument("plugin", metavar="PLUGIN")
    parser.add_argument("shipped_plugins", metavar="SHIPPED_PLUGINS")
    parser.add_argument("calpe", nargs="?", metavar="CALPE")
    parser.add_argument("--directory", type=pathlib.Path)
    return parser.parse_args()


def reason_to_skip(scenario):
    programs = ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-objectstore-tool", *scenario.programs)
    missing = [name for name in programs if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        return f"needs root and {missing or 'nothing else'}"
    if installed_release() < scenario.since:
        return f"needs Ceph {scenario.since}, this is {installed_release()}"
    return None


def main():
    arguments = parse()
    scenario = SCENARIOS[arguments.scenario]
    if reason := reason_to_skip(scenario):
        print(f"skipped: {reason}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.directory or pathlib.Path(folder, "cluster")
        with Cluster(root, arguments.plugin, arguments.shipped_plugins, scenario.osds,
                     scenario.has_cephx, scenario.hosts, scenario.settings,
                     scenario.variables) as cluster:
            say(f"Ceph {cluster.release}: {cluster.osds} OSDs are up"
                f"{', with cephx' if scenario.has_cephx else ''}")
            scenario.run(cluster, arguments)
            require(not cluster.dead(), "no daemon exited unexpectedly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
