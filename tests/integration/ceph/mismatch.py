#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What monitors and OSDs do with a plugin that was built for another Ceph version.

Usage: mismatch.py PLUGIN OTHER_PLUGIN SHIPPED_PLUGINS
OTHER_PLUGIN claims another version. docs/ceph-containers.md describes each step, and must quote the
messages that the daemons print. Exit code 77: a part of Ceph is missing.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile

try:
    from cluster import Cluster, wait_until
    from pool import Pool
    from report import require
except ImportError as error:
    print(f"skipped: {error}, install python3-rados and use Debian's Python")
    sys.exit(77)

OSDS = 4
KEYS = ["plugin=calpe", "k=2", "m=1", "stripe_unit=4096"]
DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs/ceph-containers.md"
WRONG_VERSION = re.compile(
    r"expected plugin \S+/libec_calpe\.so version [\d.]+ but it claims to be [\d.]+ instead")
MISSING = re.compile(r"load dlopen\(\S+/libec_calpe\.so\): \S+/libec_calpe\.so: cannot open shared "
                     r"object file: No such file or directory")
STOPPED = re.compile(r"FAILED ceph_assert\(ec_impl\)")


class Mismatch:
    def __init__(self, cluster, good, other):
        self.cluster, self.good, self.other = cluster, good, other

    def install(self, plugin):
        """Replaces the file, as a new image does. Daemons that loaded the old one keep it."""
        target = self.cluster.root / "plugins/libec_calpe.so"
        target.unlink(missing_ok=True)
        if plugin:
            shutil.copy(plugin, target)

    def refused(self, message, prefix, **arguments):
        try:
            self.cluster.monitor(prefix, **arguments)
        except RuntimeError as error:
            require(message.search(str(error)), f"{prefix}: {error}")
        else:
            raise AssertionError(f"{prefix} was accepted; expected {message.pattern}")

    def set_profile(self, name):
        self.cluster.monitor("osd erasure-code-profile set", name=name,
                             profile=[*KEYS, "crush-failure-domain=osd"])

    def profile_is_refused(self, message):
        self.refused(message, "osd erasure-code-profile set", name="refused", profile=KEYS)

    def pool_is_refused(self, profile):
        self.refused(WRONG_VERSION, "osd pool create", pool="refused", pg_num=4, pgp_num=4,
                     pool_type="erasure", erasure_code_profile=profile)

    def restart_stopped(self):
        for name, daemon in list(self.cluster.daemons.items()):
            if daemon.poll() is not None:
                self.cluster.daemons.pop(name)
                self.cluster.start_daemon(*name.split(".", 1))
        self.cluster.wait_for_up(OSDS)

    def wait_for_end(self, osd, message, code):
        """Waits until an OSD has ended, and requires the message in its output."""
        name = f"ceph-osd.{osd}"
        wait_until(lambda: self.cluster.daemons[name].poll() is not None, f"{name} ends", 60)
        output = (self.cluster.root / f"log/{name}.out").read_text(errors="replace")
        ended = self.cluster.daemons[name].poll()
        require(message.search(output) and ended == code, f"{name} ended with {ended}: "
                f"{message.search(output)}")
        return output

    def restart_osd_with_other(self, message, code):
        (self.cluster.root / "log/ceph-osd.0.out").write_text("")
        self.cluster.start_osd(0)
        return self.wait_for_end(0, message, code)

    def new_pool_stops_osds(self):
        """The monitor has the right plugin, the OSDs have another one."""
        self.install(self.good)
        self.set_profile("early")
        self.install(self.other)
        self.cluster.monitor("osd pool create", pool="early", pg_num=8, pgp_num=8,
                             pool_type="erasure", erasure_code_profile="early")
        for osd in range(OSDS):
            output = self.wait_for_end(osd, STOPPED, -6)
            require("it claims to be" not in output, f"osd.{osd} prints no reason")
        self.cluster.monitor("osd pool rm", pool="early", pool2="early",
                             yes_i_really_really_mean_it=True)
        self.restart_stopped()
        require(not self.cluster.dead(), "without the pool, OSDs start again")

    def one_osd_stops(self):
        self.install(self.good)
        for osd in range(OSDS):  # so that they load it
            self.cluster.stop_osd(osd)
            self.cluster.start_osd(osd)
        self.cluster.wait_for_up(OSDS)
        pool = Pool(self.cluster, "kept", KEYS)
        pool.put("object", 100000)
        self.cluster.stop_osd(0)
        self.install(self.other)
        self.restart_osd_with_other(STOPPED, -6)
        pool.wait_active()
        require(not pool.wrong(), "other OSDs serve the pool")
        setting = self.cluster.run("ceph-osd", "--no-mon-config", "--show-config-value",
                                   "osd_erasure_code_plugins").stdout.strip()
        self.cluster.monitor("config set", who="osd", name="osd_erasure_code_plugins",
                             value=f"{setting} calpe")
        self.restart_osd_with_other(WRONG_VERSION, 1)
        self.install(self.good)
        self.restart_stopped()
        pool.wait_clean()
        require(not pool.wrong(), "with the right plugin, the OSD is back")

    def restart_monitor_with_other(self):
        self.install(self.other)
        monitor = self.cluster.daemons.pop("ceph-mon.a")
        monitor.terminate()
        monitor.wait(60)
        self.cluster.start_daemon("ceph-mon", "a")
        self.pool_is_refused("profile-kept")

    def run(self):
        self.profile_is_refused(WRONG_VERSION)
        self.install(None)
        self.profile_is_refused(MISSING)
        self.new_pool_stops_osds()
        self.one_osd_stops()
        self.restart_monitor_with_other()


def main():
    good, other, shipped_plugins = sys.argv[1:4]
    missing = [name for name in ("ceph-mon", "ceph-mgr", "ceph-osd") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {missing or 'nothing else'}")
        return 77
    text = " ".join(DOCUMENT.read_text().split())
    for message in (WRONG_VERSION, MISSING, STOPPED):
        require(message.search(text), f"{DOCUMENT.name} quotes {message.pattern}")
    with tempfile.TemporaryDirectory() as folder:
        with Cluster(pathlib.Path(folder, "cluster"), other, shipped_plugins, OSDS) as cluster:
            Mismatch(cluster, good, other).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
