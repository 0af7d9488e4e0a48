#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two servers of one array over two paths to the same disks: the second is refused or waits.

Usage: two_servers_test.py CALPE PLUGIN
The paths are loop devices on the same files, which do not share locks. A server in another PID
namespace simulates another host, as it cannot see whether the first still runs.
"""
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, MIB, claim, say

RENEWAL = 0.2  # seconds; another host waits ten times that
IN_ANOTHER_NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


class Host:
    """A server of the array over its own paths."""

    def __init__(self, array, name, paths, wrapper=()):
        self.array, self.name, self.paths, self.wrapper = array, name, paths, wrapper
        self.socket = array.folder / f"{name}.sock"
        self.log = array.folder / f"{name}.log"
        self.process = None

    def start(self):
        """Returns None, or the error message if it does not start."""
        pid = self.array.folder / f"{self.name}.pid"
        for path in (pid, self.socket):
            path.unlink(missing_ok=True)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, "nbdkit", "--foreground", "--unix", str(self.socket), "--pidfile",
                 str(pid), self.array.plugin, *map(str, self.paths), f"lease={RENEWAL}"],
                stdout=log, stderr=log)
        lab.wait_until(lambda: pid.exists() or self.process.poll() is not None, "it starts")
        return None if self.process.poll() is None else self.log.read_text()

    def server(self):
        """The PID of nbdkit, which is a child process if there is a wrapper."""
        if not self.wrapper:
            return self.process.pid
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def client(self):
        import nbd
        handle = nbd.NBD()
        handle.connect_unix(str(self.socket))
        return handle

    def write(self, offset, data):
        client = self.client()
        client.pwrite(data, offset)
        client.flush()
        client.shutdown()

    def read(self, offset, length=4096):
        client = self.client()
        data = client.pread(length, offset)
        client.shutdown()
        return data

    def signal(self, number):
        subprocess.run(["kill", f"-{number}", str(self.server())], check=True)

    def kill(self):
        self.signal(9)
        self.process.wait(lab.PATIENCE_SECONDS)

    def stop(self):
        if self.process.poll() is None:
            self.signal(15)
        return self.process.wait(lab.PATIENCE_SECONDS)


def fails(call):
    import nbd
    try:
        call()
    except nbd.Error:
        return True
    return False


def check_same_host(first, second):
    claim(first.start() is None, f"it does not start: {first.log.read_text()}")
    first.write(0, b"1" * 4096)
    for _ in range(2):
        said = second.start()
        claim(said and "in use" in said and str(first.server()) in said, f"second says: {said}")
    first.write(0, b"2" * 4096)
    # A killed server is known to be gone, and one that ended normally released its lease.
    for end in (first.kill, first.stop):
        end()
        claim(second.start() is None, f"it does not start: {second.log.read_text()}")
        claim(second.read(0) == b"2" * 4096, "old bytes")
        claim(second.stop() == 0, "second does not stop")
        claim(first.start() is None, f"it does not start: {first.log.read_text()}")
    claim(first.stop() == 0, "first does not stop")
    say("one host: the second is refused, and starts at once when the first has ended")


def check_other_host(first, other):
    claim(first.start() is None, "it does not start")
    first.write(0, b"3" * 4096)
    said = other.start()
    claim(said and "in use" in said, f"other says: {said}")
    first.write(4096, b"4" * 4096)
    first.kill()
    begun = time.monotonic()
    claim(other.start() is None, f"it does not start: {other.log.read_text()}")
    claim(time.monotonic() - begun > 9 * RENEWAL, "it did not wait")
    claim(other.read(0, 8192) == b"3" * 4096 + b"4" * 4096, "old bytes")
    claim(other.stop() == 0, "other does not stop")
    begun = time.monotonic()
    claim(first.start() is None, "it does not start")
    claim(first.stop() == 0, "first does not stop")
    say("two hosts: refused while it is renewed, taken over when it is not")


def check_takeover(first, other):
    """A server that was stopped for longer than its lease loses it."""
    claim(first.start() is None, "it does not start")
    client = first.client()
    client.pwrite(b"5" * 4096, 0)
    client.flush()
    first.signal(int(signal.SIGSTOP))
    claim(other.start() is None, f"it does not start: {other.log.read_text()}")
    other.write(0, b"6" * 4096)
    first.signal(int(signal.SIGCONT))
    claim(fails(lambda: (client.pwrite(b"7" * (64 * KIB), 0), client.flush())),
          "both servers write")
    lab.wait_until(lambda: fails(lambda: client.pread(4096, 0)), "reads fail as well")
    other.write(4096, b"8" * 4096)
    client.shutdown()
    first.stop()
    claim("another server has taken over the array" in first.log.read_text(), "no reason is given")
    claim(other.stop() == 0, f"other does not stop: {other.log.read_text()}")
    claim(first.start() is None, f"it does not start: {first.log.read_text()}")
    claim(first.read(0, 8192) == b"6" * 4096 + b"8" * 4096, "acknowledged writes are lost")
    claim(first.stop() == 0, "first does not stop")
    say("a server whose lease was taken over stops")


def check_same_files(array):
    """The same paths are refused by the locks of the kernel."""
    array.start()
    said = subprocess.run(["nbdkit", "-f", "-U", str(array.folder / "second"), array.plugin,
                           *map(str, array.members)], capture_output=True, text=True,
                          timeout=lab.PATIENCE_SECONDS)
    claim(said.returncode != 0 and "in use" in said.stderr, f"second says: {said.stderr}")
    array.stop()
    say("the same files twice are refused")


def attached(files):
    devices = []
    for file in files:
        done = subprocess.run(["losetup", "--show", "-f", str(file)], capture_output=True,
                              text=True)
        if done.returncode != 0:
            detach(devices)
            lab.skip(f"losetup: {done.stderr.strip()}")
        devices.append(done.stdout.strip())
    return devices


def detach(devices):
    for device in devices:
        subprocess.run(["losetup", "-d", device], capture_output=True)


def main():
    lab.need("nbdkit")
    with lab.Lab(data=2, parity=1, member=2 * MIB, more=("--chunk", "16K")) as array:
        check_same_files(array)
        lab.need("losetup", "unshare")
        if subprocess.run([*IN_ANOTHER_NAMESPACE, "true"], capture_output=True).returncode != 0:
            lab.skip("unshare: no PID namespaces here")
        one, two = attached(array.members), []
        hosts = []
        try:
            two = attached(array.members)
            first, second = Host(array, "first", one), Host(array, "second", two)
            other = Host(array, "other", two, IN_ANOTHER_NAMESPACE)
            hosts = [first, second, other]
            check_same_host(first, second)
            check_other_host(first, other)
            check_takeover(first, other)
        finally:
            for host in hosts:
                if host.process is not None and host.process.poll() is None:
                    host.signal(int(signal.SIGCONT))
                    host.kill()
            detach(one + two)
    say("4 cases")


lab.use_debians_python()
main()
