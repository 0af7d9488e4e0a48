#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XRootD with erasure coding in the client, 4+2, and our libisal.so.2: xrootd_test.py BUILD

A redirector and six data servers. xrdcp with ISA-L and with ours write files, and each reads the
files of both: with all servers, and with two of them killed. Exit code 77: XRootD or our library is
missing.
"""
import os
import subprocess
import time

import engine
from engine import claim, content, say

PROGRAMS = ("xrootd", "cmsd", "xrdcp", "xrdfs")
SERVERS, DATA, PARITY = 6, 4, 2
CHUNK_BYTES = 1 << 18
# Less than a chunk, chunks of one and of several stripes, and the bytes around them.
SIZES = (1, 65_537, CHUNK_BYTES, DATA * CHUNK_BYTES, DATA * CHUNK_BYTES + 1, 20_000_003)
REDIRECTOR_PORT, MANAGER_PORT = 21094, 21213
SECONDS_MAX = 120  # of one xrdcp

# XRootD refuses to run as root. In the root that the test runs in, this user is installed with it.
USER = "xrootd"


def configure(folder, name, is_redirector, port):
    home = folder / name
    for part in ("data", "admin", "run"):
        (home / part).mkdir(parents=True)
    role = "manager" if is_redirector else "server"
    (home / "xrootd.cfg").write_text(f"""
all.role {role}
all.manager localhost:{MANAGER_PORT}
all.export / nolock
all.adminpath {home}/admin
all.pidpath {home}/run
oss.localroot {home}/data
xrd.port {port}
if exec cmsd
  xrd.port {MANAGER_PORT if is_redirector else 'any'}
fi
xrd.network nodnr
cms.delay startup 1 servers {DATA} lookup 1
cms.space min 1m 2m
""")
    subprocess.run(["chown", "-R", USER, home], check=True)
    return home


class Cluster:
    def __init__(self, libraries, daemons, folder):
        self.libraries, self.daemons, self.folder = libraries, daemons, folder
        folder.chmod(0o755)
        self.files = {}
        plugins = folder / "plugins"
        plugins.mkdir()
        (plugins / "xrdec.conf").write_text(f"""url = root://*
lib = XrdEcDefault
enable = true
nbdta = {DATA}
nbprt = {PARITY}
chsz = {CHUNK_BYTES}
""")
        # A killed server is given up after seconds.
        self.client = {"XRD_PLUGINCONFDIR": str(plugins), "XRD_CONNECTIONWINDOW": "2",
                       "XRD_CONNECTIONRETRY": "1", "XRD_STREAMERRORWINDOW": "1",
                       "XRD_REQUESTTIMEOUT": "60"}

    def start_server(self, name, is_redirector, port):
        home = configure(self.folder, name, is_redirector, port)
        for program in ("cmsd", "xrootd"):
            self.daemons.start(f"{name}.{program}",
                               [program, "-n", name, "-c", str(home / "xrootd.cfg"), "-R", USER,
                                "-I", "v4"], dict(os.environ))

    def start(self):
        self.start_server("redirector", True, REDIRECTOR_PORT)
        for number in range(SERVERS):
            self.start_server(f"server{number}", False, REDIRECTOR_PORT + 1 + number)
        self.wait_for(SERVERS)

    def servers(self):
        """Addresses of the servers that the redirector sees; dead ones are "ServerPending"."""
        done = subprocess.run(["xrdfs", f"localhost:{REDIRECTOR_PORT}", "locate", "-d", "-m", "*"],
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        return [line.split()[0] for line in done.stdout.splitlines() if " Server " in line]

    def wait_for(self, count):
        deadline = time.monotonic() + SECONDS_MAX
        while len(self.servers()) != count:
            self.daemons.check_running()
            claim(time.monotonic() < deadline,
                  f"{len(self.servers())} servers; expected {count}\n"
                  f"{self.daemons.log('redirector.cmsd')}")
            time.sleep(0.5)

    def copy(self, side, source, target):
        environment = {**self.libraries.environments[side], **self.client}
        process = subprocess.Popen(["xrdcp", "--nopbar", "--silent", str(source), str(target)],
                                   env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        try:
            self.libraries.check(side, process.pid)
            output, _ = process.communicate(timeout=SECONDS_MAX)
        finally:
            process.kill()
            process.wait()
        claim(process.returncode == 0, f"xrdcp {source} {target}, {side}: {output}")

    @staticmethod
    def url(name):
        return f"root://localhost:{REDIRECTOR_PORT}//{name}"

    def write(self, side):
        for size in SIZES:
            name = f"{side}-{size}"
            self.files[name] = content(name, size)
            source = self.folder / "source"
            source.write_bytes(self.files[name])
            self.copy(side, source, self.url(name))

    def read_all(self, when):
        for side in ("stock", "ours"):
            for name, expected in self.files.items():
                target = self.folder / "target"
                target.unlink(missing_ok=True)
                self.copy(side, self.url(name), target)
                claim(target.read_bytes() == expected, f"{when}: {name} read with {side} differs")
        say(f"{when}: {len(self.files)} files equal with both libraries")

    def check_placement(self):
        """Every server has a part of every file, so the client has striped them."""
        for number in range(SERVERS):
            parts = {p.name for p in (self.folder / f"server{number}" / "data").iterdir()}
            claim(set(self.files) <= parts, f"server {number} has {sorted(parts)}")

    def kill(self, numbers):
        for number in numbers:
            for program in ("xrootd", "cmsd"):
                self.daemons.kill(f"server{number}.{program}")


def test(libraries, daemons, folder):
    cluster = Cluster(libraries, daemons, folder)
    cluster.start()
    say(f"{SERVERS} data servers")
    for side in ("stock", "ours"):
        cluster.write(side)
    cluster.check_placement()
    cluster.read_all("all servers")
    cluster.kill((1, 4))
    cluster.wait_for(SERVERS - 2)
    cluster.read_all("two servers killed")


if __name__ == "__main__":
    engine.run_test(test, PROGRAMS)
