# SPDX-License-Identifier: Apache-2.0
"""What the tests of storage engines share: an own loopback, daemons, and proof of the library."""
import fcntl
import hashlib
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
INSIDE = "CALPE_ENGINE_INSIDE"  # set in the process that has its own network
IFF_UP, SIOCGIFFLAGS, SIOCSIFFLAGS = 1, 0x8913, 0x8914

started = time.monotonic()


def say(text):
    print(f"{time.monotonic() - started:6.1f} s  {text}", flush=True)


def claim(holds, text):
    if not holds:
        raise AssertionError(text)


def content(name, size):
    return hashlib.shake_128(name.encode()).digest(size)


def enter_own_network():
    """Restarts the script with a network that has only a loopback, so that no daemon can be
    reached from elsewhere, and with the host name localhost."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--uts", sys.executable, "-B", *sys.argv])
    socket.sethostname("localhost")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def skip_without(*programs):
    missing = [p for p in programs if subprocess.run(["which", p], stdout=subprocess.DEVNULL,
                                                     check=False).returncode != 0]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(SKIPPED)


class Libraries:
    """Environments with ISA-L and with ours, and what a process has loaded."""

    def __init__(self, build):
        self.ours = os.path.realpath(build / "plugins/isal/libisal.so.2")
        if not os.path.exists(self.ours):
            print(f"skipped: {self.ours} does not exist; build calpe_isal")
            sys.exit(SKIPPED)
        self.environments = {"stock": dict(os.environ), "ours": dict(os.environ)}
        # The build directory has another path here, so libisal.so.2 does not find libcalpe.so.1.
        self.environments["ours"]["LD_LIBRARY_PATH"] = (
            f"{os.path.dirname(self.ours)}:{os.path.realpath(build / 'src')}")
        self.counts = {"stock": 0, "ours": 0}  # processes seen with each

    def check(self, side, pid):
        """Waits until a process has mapped a libisal.so, and claims that it is that of `side`."""
        deadline = time.monotonic() + 10
        files = set()
        while not files and time.monotonic() < deadline:
            try:
                maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
            except (FileNotFoundError, ProcessLookupError):
                break
            files = {line.split()[-1] for line in maps.splitlines() if "/libisal" in line}
        claim(len(files) == 1, f"process {pid} has mapped {sorted(files)}; expected one libisal.so")
        claim((files == {self.ours}) == (side == "ours"), f"process {pid}, {side}: {files}")
        self.counts[side] += 1


class Daemons:
    """Processes in the foreground with logs; all are killed at the end."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}

    def start(self, name, command, environment):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=log,
                                                  stdin=subprocess.DEVNULL)
        return self.running[name].pid

    def kill(self, name):
        process = self.running.pop(name)
        claim(process.poll() is None, f"{name} ended with {process.returncode}: {self.log(name)}")
        process.send_signal(signal.SIGKILL)
        process.wait()

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")[-1500:]

    def check_running(self):
        for name, process in self.running.items():
            claim(process.poll() is None,
                  f"{name} ended with {process.returncode}: {self.log(name)}")

    def stop(self):
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait()


def run_test(test, programs):
    """main() of a test: calls test(libraries, daemons, folder); BUILD is the only argument."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD")
    skip_without("unshare", *programs)
    enter_own_network()
    libraries = Libraries(pathlib.Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as scratch:
        daemons = Daemons(pathlib.Path(scratch))
        try:
            test(libraries, daemons, pathlib.Path(scratch))
            daemons.check_running()
        finally:
            daemons.stop()
    say(f"passed: {libraries.counts['ours']} processes with our libisal.so.2, "
        f"{libraries.counts['stock']} with ISA-L")
