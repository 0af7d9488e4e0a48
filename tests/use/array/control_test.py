#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The control socket of a server: idle clients, no free descriptors, invalid requests.

Usage: control_test.py CALPE PLUGIN
"""
import os
import pathlib
import resource
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import MIB, claim, say


def connected(array):
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(array.control))
    client.settimeout(lab.PATIENCE_SECONDS)
    return client


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_idle(array):
    """Idle clients do not keep others out."""
    idle = [connected(array) for _ in range(100)]
    for _ in range(3):
        claim(array.status()["ok"], "no status")
    for client in idle:
        client.close()
    say("100 idle clients: status is answered")


def check_no_descriptors(array):
    """Without free descriptors the server waits and does not spin."""
    pid = array.server.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = len(os.listdir(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used, hard))
    waiting = [connected(array) for _ in range(3)]
    before, begun = cpu_seconds(pid), time.monotonic()
    while time.monotonic() - begun < 3:
        claim(cpu_seconds(pid) - before < 1, "it spins")
        time.sleep(0.1)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    claim(array.status()["ok"], "no status afterwards")
    for client in waiting:
        client.sendall(b'{"do":"status"}\n')
        claim(b'"ok":true' in client.makefile("rb").readline(), "a waiting client is ignored")
        client.close()
    say("no free descriptors: it waits, and answers afterwards")


def check_requests(array):
    nested = b'{"do":"fail","member":' + b"[" * 30000 + b"]" * 30000 + b"}"
    requests = (b'{"do":"fail","member":1e99}', b'{"do":"fail","member":-1}',
                b'{"do":"replace","member":0,"path":"/etc/passwd"}',
                b'{"do":"add","path":"/dev/null"}', b'{"do":"scrub","stop":[]}'[:-1], b"\xff\xfe{}",
                b'{"do":"rate","rebuild":1e400}', b"[]", b"null", nested,
                b'{"do":"add","path":"/a\\u0000b"}', b'{"do":"add","path":"/nowhere","force":1}',
                b"x" * 70000)
    for request in requests:
        with connected(array) as client:
            client.sendall(request + b"\n")
            answer = client.makefile("rb").readline()
            claim(b'"error"' in answer, f"{request[:60]}: {answer[:200]}")
    claim(array.status()["state"] == "healthy", "a bad request changed something")
    say(f"{len(requests)} bad requests are refused with a message")


def check_place(array):
    """No socket is created where other users could replace it."""
    claim(stat.S_IMODE(array.control.stat().st_mode) == 0o600, "others may connect")
    array.stop()
    shared = array.folder / "shared"
    shared.mkdir()
    cases = 0
    target = array.folder / "target"
    target.write_text("a file")
    link = array.folder / "link"
    link.symlink_to(target)
    places = [(link, None), (target, None), (shared / "ctl", lambda: shared.chmod(0o777))]
    if os.geteuid() == 0:
        places.append((shared / "ctl", lambda: (shared.chmod(0o755), os.chown(shared, 12345, -1))))
    for path, prepare in places:
        if prepare:
            prepare()
        command = [part if not part.startswith("control=") else f"control={path}"
                   for part in array.nbdkit()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=lab.PATIENCE_SECONDS)
        claim(done.returncode != 0 and "control:" in done.stderr, f"{path}: {done.stderr}")
        claim(target.read_text() == "a file", "a file was written through a link")
        cases += 1
    say(f"{cases} paths are refused")


def main():
    lab.need("nbdkit")
    with lab.Lab(data=2, parity=1, member=2 * MIB, more=("--chunk", "16K")) as array:
        array.start()
        check_idle(array)
        check_no_descriptors(array)
        check_requests(array)
        check_place(array)


lab.use_debians_python()
main()
