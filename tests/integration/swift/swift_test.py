#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a real Swift, policy 4+2 isa_l_rs_vand, with our libisal.so.2: swift_test.py DIR

Two proxies, one with the system's library and one with ours, write and read the same objects: with
all object servers, with two killed, and after the reconstructor (with our library) restored every
fragment of two wiped devices byte by byte. Exit code 77: Swift is not installed or cannot run.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's Swift
SKIPPED = 77
SIZES = (0, 1, 1000, 65_537, 1 << 20, 3_500_000)
ROUNDS_MAX = 3
WIPED, OTHERS = (2, 5), (1, 7)

started = time.monotonic()


def say(text):
    print(f"{time.monotonic() - started:6.1f} s  {text}", flush=True)


def content(name, size):
    return hashlib.shake_128(name.encode()).digest(size)


def claim(holds, text):
    if not holds:
        raise AssertionError(text)


class Trial:
    def __init__(self, cluster, ours):
        self.cluster = cluster
        self.ours = ours
        self.library = os.path.realpath(ours / "libisal.so.2")
        self.objects = {}

    def put(self, proxy, name, size):
        self.objects[name] = content(name, size)
        status, _ = self.cluster.request(proxy, "PUT", f"/c/{name}", self.objects[name])
        claim(status == 201, f"PUT {name} by {proxy}: status {status}")

    def get_all(self, when):
        for proxy in ("stock", "ours"):
            for name, expected in self.objects.items():
                status, got = self.cluster.request(proxy, "GET", f"/c/{name}")
                claim(status == 200 and got == expected,
                      f"{when}: GET {name} by {proxy}: status {status}, "
                      f"{'equal' if got == expected else 'other'} bytes")
        say(f"{when}: {len(self.objects)} objects equal by both proxies")

    def check_loaded(self):
        claim(self.cluster.mapped("ours") == {self.library}, self.cluster.mapped("ours"))
        stock = self.cluster.mapped("stock")
        claim(len(stock) == 1 and stock != {self.library}, stock)
        say(f"loaded: {self.library} and {stock.pop()}")

    def reconstruct(self, node):
        return self.cluster.reconstruct(node, self.ours)

    def restore(self, before):
        """Runs the reconstructors until the wiped devices have their old content."""
        for number in range(1, ROUNDS_MAX + 1):
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                loaded = list(pool.map(self.reconstruct, before))
            claim(loaded == [{self.library}] * len(before),
                  f"a reconstructor has not loaded our library: {loaded}")
            left = [node for node in WIPED if self.cluster.fragments(node) != before[node]]
            say(f"round {number} of the reconstructor: wrong or missing on {left or 'no node'}")
            if not left:
                return
        for node in left:
            got = self.cluster.fragments(node)
            missing = before[node].keys() - got.keys()
            wrong = [p for p in before[node].keys() & got.keys() if before[node][p] != got[p]]
            say(f"node {node}: missing {sorted(missing)}, wrong {wrong}, "
                f"too many {sorted(got.keys() - before[node].keys())}")
        raise AssertionError("not every fragment was restored")

    def run(self, nodes):
        cluster = self.cluster
        self.check_loaded()
        status, _ = cluster.request("ours", "PUT", "/c")
        claim(status in (201, 202), f"PUT of the container: status {status}")
        for size in SIZES:
            self.put("stock", f"stock-{size}", size)
            self.put("ours", f"ours-{size}", size)
        self.get_all("all servers")
        before = {node: cluster.fragments(node) for node in nodes}
        count = sum(len(fragments) for fragments in before.values())
        claim(count == 2 * len(SIZES) * 6, f"{count} fragments; expected {2 * len(SIZES) * 6}")
        claim(all(before[node] for node in WIPED), "a node to be wiped is empty")

        for node in WIPED:
            cluster.kill(node)
        self.get_all(f"servers {WIPED} killed")
        for node in WIPED:
            cluster.wipe(node)
            cluster.start(node, self.ours)
        cluster.wait(*WIPED)
        self.restore(before)
        after = {node: cluster.fragments(node) for node in nodes}
        claim(after == before, "fragments of a node that was not wiped changed")

        for node in OTHERS:
            cluster.kill(node)
        self.get_all(f"servers {OTHERS} killed instead")
        self.put("ours", "degraded", 2_000_000)
        self.get_all("written with two servers killed")
        say(f"{count} fragments, {len(self.objects)} objects")


def inside(ours):
    from cluster import Cluster, NODES
    with tempfile.TemporaryDirectory() as work:
        cluster = Cluster(work, {"stock": None, "ours": ours})
        try:
            cluster.start_all(ours)
            say("all servers listen")
            Trial(cluster, ours).run(NODES)
        except BaseException:
            for log in sorted(pathlib.Path(work, "log").glob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}")
            raise
        finally:
            cluster.stop()
            subprocess.run(["umount", "/etc/swift"], check=False)


def missing():
    if os.geteuid() != 0:
        return "a mount namespace needs root"
    namespace = ["unshare", "--mount", "--propagation", "private", "true"]
    if subprocess.run(namespace, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return "mount namespaces are not available"
    probe = [PYTHON, "-c", "import swift.common.ring, pyeclib"]
    programs = [f"/usr/bin/swift-{kind}-server" for kind in
                ("proxy", "object", "account", "container")]
    if not all(os.path.exists(p) for p in [PYTHON, "/etc/swift", *programs]) or \
            subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return "apt install swift-proxy swift-object swift-account swift-container"
    return None


def main():
    if sys.argv[1] == "--inside":
        return inside(pathlib.Path(sys.argv[2]))
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    ours = pathlib.Path(sys.argv[1]).resolve()
    return subprocess.run(["unshare", "--mount", "--propagation", "private", PYTHON, "-B", __file__,
                           "--inside", str(ours)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
