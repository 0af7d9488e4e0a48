# SPDX-License-Identifier: Apache-2.0
"""OpenStack Swift on loopback: eight object servers, and proxies with different libisal.so.2.

Swift always reads /etc/swift/swift.conf, so everything runs in a mount namespace with its own
/etc/swift. Every process ends with its parent.
"""
import ctypes
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from swift.common.ring import RingBuilder

NODES = range(1, 9)
DATA, PARITY = 4, 2
SEGMENT_BYTES = 1 << 20
PART_POWER = 5
START_SECONDS_MAX = 120
REQUEST_SECONDS_MAX = 60
PR_SET_PDEATHSIG = 1

SWIFT_CONF = f"""
[swift-hash]
swift_hash_path_suffix = calpe
swift_hash_path_prefix = calpe
[storage-policy:0]
name = ec42
default = yes
policy_type = erasure_coding
ec_type = isa_l_rs_vand
ec_num_data_fragments = {DATA}
ec_num_parity_fragments = {PARITY}
ec_object_segment_size = {SEGMENT_BYTES}
"""

SERVER_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = root
devices = {devices}
mount_check = false
swift_dir = /etc/swift
fallocate_reserve = 0
disable_fallocate = true
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
[object-reconstructor]
recon_cache_path = {cache}
"""

PROXY_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = root
swift_dir = /etc/swift
[pipeline:main]
pipeline = catch_errors proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 20
conn_timeout = 2
error_suppression_interval = 1
[filter:catch_errors]
use = egg:swift#catch_errors
"""


def free_ports(count):
    """Returns `count` consecutive free ports."""
    for base in range(21000 + os.getpid() % 1000 * 8, 31000, count):
        sockets = []
        try:
            for port in range(base, base + count):
                sockets.append(socket.create_server(("127.0.0.1", port)))
            return list(range(base, base + count))
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError(f"no {count} free ports between 21000 and 31000")


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Cluster:
    """libraries: proxy name -> directory of its libisal.so.2, or None for the system's."""

    def __init__(self, work, libraries):
        self.work = pathlib.Path(work)
        self.libraries = libraries
        self.running = {}  # name -> Popen
        ports = free_ports(2 + len(NODES) + len(libraries))
        self.ports = dict(zip(["account", "container", *NODES, *libraries], ports))
        for name in ("etc", "log", "cache"):
            (self.work / name).mkdir()
        self._configure()

    # --- set-up

    def _configure(self):
        etc = self.work / "etc"
        (etc / "swift.conf").write_text(SWIFT_CONF)
        for kind in ("account", "container"):
            (self.work / "node0" / "d0").mkdir(parents=True, exist_ok=True)
            self._write_server(kind, kind, "node0")
            self._write_ring(kind, 1, [(0, self.ports[kind])])
        for node in NODES:
            self.device(node).mkdir(parents=True)
            self._write_server("object", node, f"node{node}")
        self._write_ring("object", DATA + PARITY, [(node, self.ports[node]) for node in NODES])
        for name in self.libraries:
            (etc / f"{name}.conf").write_text(PROXY_CONF.format(port=self.ports[name]))
        subprocess.run(["mount", "--bind", str(etc), "/etc/swift"], check=True)

    def _write_server(self, kind, name, folder):
        text = SERVER_CONF.format(kind=kind, port=self.ports[name], devices=self.work / folder,
                                  cache=self.work / "cache")
        (self.work / "etc" / f"{name}.conf").write_text(text)

    def _write_ring(self, kind, replicas, devices):
        builder = RingBuilder(PART_POWER, replicas, 1)
        for number, port in devices:
            builder.add_dev({"id": number, "region": 1, "zone": number, "ip": "127.0.0.1",
                             "port": port, "device": f"d{number}", "weight": 100.0})
        builder.rebalance(seed=1)
        builder.get_ring().save(str(self.work / "etc" / f"{kind}.ring.gz"))

    def device(self, node):
        return self.work / f"node{node}" / f"d{node}"

    # --- processes

    def _environment(self, folder):
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if folder:
            environment["LD_LIBRARY_PATH"] = str(folder)
        return environment

    def start(self, name, folder=None):
        """Starts a server with libisal.so.2 from `folder`."""
        program = "swift-proxy-server" if name in self.libraries else \
            f"swift-{name if isinstance(name, str) else 'object'}-server"
        with open(self.work / "log" / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                [program, f"/etc/swift/{name}.conf"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=self._environment(folder), preexec_fn=die_with_parent)

    def wait(self, *names):
        """Waits until all servers listen."""
        end = time.monotonic() + START_SECONDS_MAX
        for name in names:
            while True:
                if self.running[name].poll() is not None or time.monotonic() > end:
                    log = (self.work / "log" / f"{name}.log").read_text(errors="replace")
                    raise RuntimeError(f"server {name} did not start:\n{log[-2000:]}")
                try:
                    socket.create_connection(("127.0.0.1", self.ports[name]), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)

    def start_all(self, object_folder):
        for name in ("account", "container", *NODES):
            self.start(name, object_folder)
        for name, folder in self.libraries.items():
            self.start(name, folder)
        self.wait("account", "container", *NODES, *self.libraries)

    def kill(self, name):
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def stop(self):
        for name in list(self.running):
            self.kill(name)

    def mapped(self, name):
        """Returns the libisal.so files that a server has loaded."""
        with open(f"/proc/{self.running[name].pid}/maps", encoding="ascii") as maps:
            return {line.split()[-1] for line in maps if "/libisal.so" in line}

    def reconstruct(self, node, folder):
        """Runs one round of a node's reconstructor; returns the libisal.so that it loaded."""
        trace = self.work / "log" / f"loader{node}"
        environment = self._environment(folder)
        environment |= {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(trace)}
        with open(self.work / "log" / f"reconstructor{node}.log", "ab") as log:
            subprocess.run(["swift-object-reconstructor", f"/etc/swift/{node}.conf", "-o", "-v"],
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                           preexec_fn=die_with_parent, timeout=START_SECONDS_MAX, check=True)
        files = set()
        for path in trace.parent.glob(trace.name + ".*"):
            for line in path.read_text(errors="replace").splitlines():
                if "calling init:" in line and "/libisal.so" in line:
                    files.add(os.path.realpath(line.split()[-1]))
            path.unlink()
        return files

    # --- content

    def request(self, proxy, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[proxy],
                                                timeout=REQUEST_SECONDS_MAX)
        try:
            connection.request(method, f"/v1/AUTH_test{path}", body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def fragments(self, node):
        """Returns the content of every fragment of a node, by path."""
        device = self.device(node)
        return {path.relative_to(device).as_posix(): path.read_bytes()
                for path in sorted(device.glob("objects/**/*.data"))}

    def wipe(self, node):
        shutil.rmtree(self.device(node))
        self.device(node).mkdir()
