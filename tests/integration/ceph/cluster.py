# SPDX-License-Identifier: Apache-2.0
"""A Ceph cluster on loopback: one monitor, one manager, some OSDs on sparse files, no systemd.

Ceph is any release that the plugin is tested with. Daemons are children of this process and end
with it. They write below one directory and listen on 127.0.0.1. Needs root, 1.5 GiB of memory and
1 GB of disk. Commands and objects go through librados in this process, because starting `ceph` or
`rados` takes a third of a second, and a run has thousands of commands.
"""
import contextlib
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import uuid

import rados  # Debian's python3-rados, for /usr/bin/python3 only

# Some settings replace defaults for disks: osd_recovery_sleep_hdd would make a recovery eight times
# slower, because a file counts as rotational. The heartbeat grace is long, so that a busy machine
# does not look like a dead OSD. A killed OSD refuses connections, which peers report at once. With
# the default queue an OSD takes 2,048 of the kernel's 65,536 asynchronous requests (fs.aio-max-nr),
# so that a wide cluster would leave too few for another one.
CONFIGURATION = """
[global]
fsid = {fsid}
mon_host = {monitor}
auth_cluster_required = {auth}
auth_service_required = {auth}
auth_client_required = {auth}
auth_allow_insecure_global_id_reclaim = false
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_port_min = {first_port}
ms_bind_port_max = {last_port}
run_dir = {root}/run
admin_socket = {root}/run/$name.asok
pid_file = {root}/run/$name.pid
log_file = {root}/log/$name.log
crash_dir = {root}/crash
erasure_code_dir = {root}/plugins
osd_pool_default_pg_autoscale_mode = off
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_min_size = 1
osd_crush_chooseleaf_type = 0
mgr_stats_period = 1
mgr_initial_modules = iostat
[client]
log_file = {root}/log/client.log
rados_mon_op_timeout = 120
admin_socket =
keyring = {root}/admin.keyring
[mon]
mon_data = {root}/mon
mon_cluster_log_file = {root}/log/cluster.log
mon_allow_pool_delete = true
mon_osd_min_down_reporters = 1
mon_osd_crush_smoke_test = false
mon_osd_down_out_interval = 3600
mon_data_avail_warn = 2
mon_data_avail_crit = 1
paxos_propose_interval = 0.1
[mgr]
mgr_data = {root}/mgr
[osd]
osd_data = {root}/osd$id
osd_objectstore = bluestore
bluestore_block_size = 2147483648
bdev_aio_max_queue_depth = 64
bluestore_cache_autotune = false
bluestore_cache_size = 67108864
osd_heartbeat_interval = 1
osd_heartbeat_grace = 60
osd_op_queue = wpq
osd_recovery_sleep_hdd = 0
osd_recovery_max_active = 8
osd_max_backfills = 4
osd_scrub_sleep = 0
osd_max_scrubs = 4
osd_scrub_load_threshold = 1000
osd_scrub_backoff_ratio = 0
"""


def wait_until(condition, what, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"timeout after {seconds} s: {what}")
        time.sleep(0.1)


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """Returns the first of `count` free ports, outside of the range for outgoing connections."""
    outgoing = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    last = int(outgoing.split()[0]) - count
    if last < 1100:
        raise RuntimeError(f"no {count} consecutive ports below the outgoing range {outgoing}")
    for _ in range(1000):
        first = random.randrange(1024, last)
        if all(map(is_free, range(first, first + count))):
            return first
    raise RuntimeError(f"no {count} consecutive free ports in 1000 tries")


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def installed_release():
    """Returns the first number of the version of the installed daemons, such as 18."""
    said = subprocess.run(["ceph-osd", "--version"], capture_output=True, text=True, check=True)
    return int(re.search(r"version (\d+)", said.stdout)[1])


class Cluster:
    """Context manager: starts the cluster on entry, stops it on exit. If `root` has a cluster, also
    of an older release, its monitor and OSDs continue; its options come from there.
    plugin: Calpe's, or "none" for Ceph's own plugins only.
    hosts: number of hosts in the CRUSH map, with OSDs in turn; 0 for one host.
    settings: lines for the configuration. variables: environment of the daemons."""

    def __init__(self, root, plugin, shipped_plugins, osds, has_cephx=False, hosts=0, settings="",
                 variables=None):
        self.root = pathlib.Path(root).resolve()
        self.osds = osds
        self.has_cephx, self.hosts, self.settings = has_cephx, hosts, settings
        self.release = installed_release()
        self.daemons = {}
        self.client = self.watcher = None
        self.calls = self.root / "delta-calls"  # tests/distributed/ceph/twin.cpp
        self.environment = dict(os.environ, CEPH_CONF=f"{self.root}/ceph.conf",
                                CALPE_TWIN_CALLS=str(self.calls), **(variables or {}))
        for name in ["mon", "mgr", "run", "log", "crash"]:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.install(plugin, shipped_plugins)

    def install(self, plugin, shipped_plugins):
        """Daemons preload the shipped plugins and do not start without them."""
        folder = self.root / "plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for library in pathlib.Path(shipped_plugins).glob("libec_*.so"):
            if library.name != "libec_calpe.so":
                (folder / library.name).symlink_to(library)
        if plugin != "none":
            shutil.copy(plugin, folder / "libec_calpe.so")

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.stop)
            if (self.root / "ceph.conf").exists():
                self.restart()
            else:
                self.start()
            stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stop()

    def run(self, *command, seconds=120):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=seconds)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}, "
                               f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def monitor(self, prefix, content=b"", **arguments):
        """Returns the monitor's answer to a command, parsed if it is JSON."""
        return self.answer(self.client.mon_command, prefix, content, arguments)

    def manager(self, prefix, **arguments):
        """Returns None while the manager does not know the restarted OSD yet."""
        return self.answer(self.client.mgr_command, prefix, b"", arguments)

    def answer(self, send, prefix, content, arguments):
        command = json.dumps({"prefix": prefix, "format": "json", **arguments})
        code, output, text = send(command, content)
        if code == -errno.EAGAIN:
            return None
        if code != 0:
            raise RuntimeError(f"{command}: error {code}, {text}")
        try:
            return json.loads(output)
        except ValueError:
            return output.decode()

    def query(self, group):
        """Asks the primary OSD of a placement group, which is more current than the manager.
        Returns None while no OSD answers. Fetches the newest map first, because a client that only
        sends queries is not told of new maps."""
        command = json.dumps({"prefix": "query", "pgid": group, "format": "json"})
        try:
            self.watcher.wait_for_latest_osdmap()
            code, output, _ = self.watcher.pg_command(group, command, b"")
        except rados.Error:
            return None
        return json.loads(output) if code == 0 else None

    def start(self):
        fsid, port = str(uuid.uuid4()), free_ports(400)
        monitor = f"[v2:127.0.0.1:{port},v1:127.0.0.1:{port + 1}]"
        configuration = CONFIGURATION.format(
            fsid=fsid, monitor=monitor, root=self.root, first_port=port + 2, last_port=port + 399,
            auth="cephx" if self.has_cephx else "none") + self.settings
        for osd in range(self.osds if self.hosts else 0):
            configuration += (f"[osd.{osd}]\ncrush_location = root=default "
                              f"host={self.host_of(osd)}\n")
        (self.root / "ceph.conf").write_text(configuration)
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", monitor,
                 f"{self.root}/monmap")
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", f"{self.root}/monmap",
                 *self.make_first_keys())
        self.start_daemon("ceph-mon", "a")
        self.connect(port)
        ids = [str(uuid.uuid4()) for _ in range(self.osds)]
        making = []
        for osd, osd_id in enumerate(ids):
            (self.root / f"osd{osd}").mkdir()
            self.make_key(f"osd{osd}/keyring", f"osd.{osd}")
            making.append(subprocess.Popen(
                ["ceph-osd", "-i", str(osd), "--mkfs", "--osd-uuid", osd_id, "--no-mon-config"],
                env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        if self.has_cephx:
            allowed = ["mon", "allow profile mgr", "osd", "allow *", "mds", "allow *"]
            key = self.monitor("auth get-or-create", entity="mgr.x", caps=allowed, format="plain")
            (self.root / "mgr/keyring").write_text(key)
        self.start_daemon("ceph-mgr", "x")
        for osd, osd_id in enumerate(ids):
            self.monitor("osd new", self.secret_of(osd), uuid=osd_id)
        for maker in making:
            _, said = maker.communicate(timeout=120)
            if maker.returncode != 0:
                raise RuntimeError(f"ceph-osd --mkfs: exit {maker.returncode}, "
                                   f"{said.decode(errors='replace')[-2000:]}")
        for osd in range(self.osds):
            self.start_osd(osd)
        self.wait_for_up(self.osds)

    def restart(self):
        address = re.search(r"mon_host = .v2:127.0.0.1:(\d+)",
                            (self.root / "ceph.conf").read_text())
        self.start_daemon("ceph-mon", "a")
        self.connect(int(address[1]))
        self.start_daemon("ceph-mgr", "x")
        for osd in range(self.osds):
            self.start_osd(osd)
        self.wait_for_up(self.osds)

    def host_of(self, osd):
        return f"host{osd % self.hosts}"

    def connect(self, port):
        wait_until(lambda: is_listening(port), "the monitor listens")
        self.client, self.watcher = (
            rados.Rados(conffile=f"{self.root}/ceph.conf", rados_id="admin",
                        conf={"rados_osd_op_timeout": seconds}) for seconds in ("120", "5"))
        self.client.connect()
        self.watcher.connect()

    def make_key(self, path, name, *capabilities):
        if self.has_cephx:
            self.run("ceph-authtool", "--create-keyring", f"{self.root}/{path}", "--gen-key", "-n",
                     name, *capabilities)

    def make_first_keys(self):
        """Creates the keys of monitor and administrator; returns the monitor's options for them."""
        if not self.has_cephx:
            return []
        everything = [word for kind in ("mon", "osd", "mds", "mgr")
                      for word in ("--cap", kind, "allow *")]
        self.make_key("mon.keyring", "mon.", "--cap", "mon", "allow *")
        self.make_key("admin.keyring", "client.admin", *everything)
        self.run("ceph-authtool", f"{self.root}/mon.keyring", "--import-keyring",
                 f"{self.root}/admin.keyring")
        return ["--keyring", f"{self.root}/mon.keyring"]

    def secret_of(self, osd):
        if not self.has_cephx:
            return b""
        key = self.run("ceph-authtool", f"{self.root}/osd{osd}/keyring", "-n", f"osd.{osd}",
                       "--print-key").stdout.strip()
        return json.dumps({"cephx_secret": key}).encode()

    def start_daemon(self, program, name, *options):
        log = open(self.root / f"log/{program}.{name}.out", "ab")
        with log:
            self.daemons[f"{program}.{name}"] = subprocess.Popen(
                [program, "-f", "-i", name, *options], env=self.environment, stdout=log, stderr=log,
                cwd="/")  # Debian's osd_class_dir is relative

    def start_osd(self, osd):
        self.start_daemon("ceph-osd", str(osd))

    def stop_osd(self, osd, how=signal.SIGTERM):
        daemon = self.daemons.pop(f"ceph-osd.{osd}")
        daemon.send_signal(how)
        daemon.wait(60)

    def stop(self, how=signal.SIGKILL):
        """Stops the monitor last; without one, other daemons would wait for it."""
        for client in filter(None, (self.client, self.watcher)):
            client.shutdown()
        self.client = self.watcher = None
        for kind in ["radosgw", "ceph-osd", "ceph-mgr", "ceph-mon"]:
            group = [name for name in self.daemons if name.startswith(kind)]
            for name in group:
                self.daemons[name].send_signal(how)
            for name in group:
                self.daemons.pop(name).wait(60)

    def epoch(self):
        """Returns the epoch of the newest OSD map."""
        return self.monitor("osd stat")["epoch"]

    def wait_for_up(self, count):
        def are_up():
            if dead := self.dead():
                raise RuntimeError(f"daemons exited: {dead}")
            return self.monitor("osd stat")["num_up_osds"] == count
        wait_until(are_up, f"{count} OSDs are up")

    def delta_calls(self):
        """Returns how often the daemons called apply_delta; only the twin of the plugin counts."""
        return self.calls.stat().st_size if self.calls.exists() else 0

    def dead(self):
        """Returns the daemons that exited unexpectedly, with their last output."""
        return {name: (self.root / f"log/{name}.out").read_text(errors="replace")[-2000:]
                for name, daemon in self.daemons.items() if daemon.poll() is not None}
