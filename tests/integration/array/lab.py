# SPDX-License-Identifier: Apache-2.0
"""An array in a temporary directory, served by nbdkit, for the tests in this directory.

The first two arguments of every test are the calpe command and the plugin. Exit code 77 means that
something is not installed or not allowed here; the last line says what.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"  # Debian's Python has the libnbd module
SKIPPED = 77
KIB, MIB = 1 << 10, 1 << 20
# Timeout of all waits; long, as a loaded machine is slow.
PATIENCE_SECONDS = 60
NIGHTLY = bool(os.environ.get("CALPE_NIGHTLY"))

_started = time.monotonic()


def use_debians_python():
    """Restarts with Debian's Python, the only one with the libnbd module."""
    if os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])


def say(text):
    print(f"{time.monotonic() - _started:6.1f} s  {text}", flush=True)


def skip(why):
    print(f"skipped: {why}", flush=True)
    sys.exit(SKIPPED)


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            skip(f"{program} is not installed")


def claim(holds, text):
    if not holds:
        raise AssertionError(text)


def run(*command, expected=0, **more):
    """Runs a command that must exit with `expected`; returns its output."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=300, **more)
    claim(expected is None or done.returncode == expected,
          f"{' '.join(map(str, command))}: exit {done.returncode}; expected {expected}\n"
          f"{done.stdout}{done.stderr}")
    return done.stdout if expected == 0 else done.stdout + done.stderr


def wait_until(holds, what):
    """Polls until the result is true, and returns it."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        result = holds()
        if result:
            return result
        claim(time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}")
        time.sleep(0.01)


class Lab:
    """k+m members and spares, and their server if it runs."""

    def __init__(self, data=4, parity=2, spares=0, member=24 * MIB, create=True, more=()):
        self.calpe, self.plugin = sys.argv[1], sys.argv[2]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="calpe-array-"))
        self.data, self.parity, self.spares = data, parity, spares
        self.members = [self.folder / f"m{i}" for i in range(data + parity)]
        self.spare_files = [self.folder / f"s{i}" for i in range(spares)]
        self.member_bytes = member
        self.socket = self.folder / "nbd"
        self.control = self.folder / "control"
        self.server = None
        self.mounts = []
        if create:
            self.array("create", "--data", data, "--parity", parity, "--member-size", member,
                       *(["--spares", spares] if spares else []), *more,
                       *self.members, *self.spare_files)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.print_log()
        self.stop(expected=None)
        shutil.rmtree(self.folder, ignore_errors=True)

    def print_log(self):
        log = self.folder / "log"
        if log.exists():
            print("--- log of the server\n" + log.read_text(errors="replace")[-4000:], flush=True)

    @property
    def uri(self):
        return f"nbd+unix:///?socket={self.socket}"

    def array(self, verb, *arguments, expected=0):
        return run(self.calpe, "array", verb, *arguments, expected=expected)

    def control_do(self, **request):
        """Sends one request to the control socket, and returns the answer."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE_SECONDS)
            client.connect(str(self.control))
            client.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(client.makefile("rb").readline())

    def status(self):
        return json.loads(self.array("status", "--json", "--control", self.control,
                                     expected=None))

    def state_of(self, role):
        return self.status()["members"][role]["state"]

    def nbdkit(self, *more, members=None, filters=()):
        paths = [*self.members, *self.spare_files] if members is None else members
        for path in (self.socket, self.control, self.folder / "pid"):
            path.unlink(missing_ok=True)
        return ["nbdkit", "--foreground", "--exit-with-parent", "--unix", str(self.socket),
                "--pidfile", str(self.folder / "pid"),
                *(f"--filter={name}" for name in filters), self.plugin,
                *(f"member={path}" for path in paths), f"control={self.control}", *map(str, more)]

    def start(self, *more, members=None, filters=()):
        command = self.nbdkit(*more, members=members, filters=filters)
        with open(self.folder / "log", "ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        # The socket exists before the server listens on it; this file does not.
        wait_until(lambda: (self.folder / "pid").exists() or self.server.poll() is not None,
                   "nbdkit listens")
        if self.server.poll() is not None:
            raise AssertionError(f"nbdkit ended with {self.server.returncode}")
        return self

    def stop(self, expected=0):
        if self.server is None:
            return
        self.server.terminate()
        try:
            code = self.server.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.server.kill()
            code = self.server.wait()
        self.server = None
        claim(expected is None or code == expected, f"nbdkit ended with {code}")

    def kill(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()
        self.server = None

    def client(self):
        import nbd
        handle = nbd.NBD()
        handle.add_meta_context("base:allocation")
        handle.connect_unix(str(self.socket))
        return handle

    @contextlib.contextmanager
    def fuse(self):
        """Mounts the served device as a file."""
        with mounted_nbd(self.folder / "fuse", self.uri) as file:
            yield file


@contextlib.contextmanager
def mounted_nbd(file, uri):
    """Mounts an NBD export as a file."""
    if not os.access("/dev/fuse", os.W_OK):
        skip("no /dev/fuse")
    file.write_bytes(b"")
    fuse = subprocess.Popen(["nbdfuse", str(file), uri], stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: os.path.ismount(file) or fuse.poll() is not None, "nbdfuse mounts")
        if fuse.poll() is not None:
            said = fuse.stderr.read()
            if "mount" in said or "permitted" in said:
                skip(f"nbdfuse: {said.strip()}")
            raise AssertionError(f"nbdfuse: {said}")
        yield file
    finally:
        subprocess.run(["fusermount3", "-u", str(file)], capture_output=True)
        try:
            fuse.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            fuse.kill()


@contextlib.contextmanager
def loop_device(file):
    """A block device on the file, with direct I/O."""
    done = subprocess.run(["losetup", "--direct-io=on", "--show", "-f", str(file)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        skip(f"losetup: {done.stderr.strip()}")
    device = done.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], capture_output=True)


def fio(uri, *more):
    """Runs the nbd engine of fio and returns its JSON."""
    need("fio")
    out = run("fio", "--name=job", "--ioengine=nbd", f"--uri={uri}", "--thread",
              "--verify_state_save=0", "--output-format=json", *more)
    return json.loads(out[out.index("{"):])
