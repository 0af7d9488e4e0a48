#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Restarts and spares as operators meet them: sockets of killed servers, spares that are removed.

Usage: lifecycle_test.py CALPE PLUGIN
"""
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, run, say


def serve(trial, *socket_option):
    """Starts nbdkit without removing old sockets. Returns None, or why it did not start."""
    pid = trial.folder / "pid"
    pid.unlink(missing_ok=True)
    command = ["nbdkit", "--foreground", "--exit-with-parent", *map(str, socket_option),
               "--pidfile", str(pid), trial.plugin, *map(str, trial.members),
               *map(str, trial.spare_files), f"control={trial.control}"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    lab.wait_until(lambda: pid.exists() or server.poll() is not None, "nbdkit starts or ends")
    if server.poll() is not None:
        return server.stderr.read()
    trial.server = server
    return None


def check_sockets(trial):
    """A stale NBD socket does not stop a restart; a live one, a file or a link does."""
    options = (("--unix", trial.socket), (f"--unix={trial.socket}",), ("-U", trial.socket),
               (f"-U{trial.socket}",), ("--uni", trial.socket), ("-fU", trial.socket))
    for option in options:
        for _ in range(2):  # the second time the socket is stale
            why = serve(trial, *option)
            claim(why is None, f"{option}: {why}")
            run("nbdinfo", "--size", trial.uri)
            trial.status()
            trial.kill()
            claim(trial.socket.exists() and trial.control.exists(), "no socket is left")
    trial.socket.unlink()
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(str(trial.socket))
        live.listen(1)
        why = serve(trial, "--unix", trial.socket)
        claim(why and f"--unix: another server listens on {trial.socket}" in why, str(why))
        claim(trial.socket.exists(), "the socket of a live server was removed")
    trial.socket.unlink()
    for prepare in (lambda: trial.socket.write_text("a file"),
                    lambda: trial.socket.symlink_to(trial.folder / "m0")):
        prepare()
        why = serve(trial, "--unix", trial.socket)
        claim(why and "exists and is not a socket" in why, str(why))
        trial.socket.unlink()
    say(f"{len(options)} forms of --unix: stale sockets are removed, others are not")


def check_spares(trial):
    """A removed spare is blank, unlocked and does not come back."""
    spare, other = trial.spare_files
    trial.start()
    said = trial.array("remove", "--spare", trial.members[0], "--control", trial.control,
                       expected=3)
    claim("is not a spare" in said, said)
    said = trial.array("remove", "--spare", spare, "--control", trial.control)
    claim(str(spare) not in said and str(other) in said, said)
    claim(spare.read_bytes()[:8 * KIB] == bytes(8 * KIB), "superblocks are left")
    # It stays closed: the upkeep looks at the members each second.
    for _ in range(20):
        run("flock", "--nonblock", spare, "sleep", "0.1")
    trial.array("add", "--spare", spare, "--control", trial.control)
    trial.array("remove", "--spare", spare, "--control", trial.control)
    trial.stop()
    # Without a server.
    said = trial.array("remove", "--spare", spare, *trial.members, other, expected=3)
    claim(f"{spare} is not a spare of this array" in said, said)
    said = trial.array("remove", "--spare", other, *trial.members, other)
    claim(str(other) not in said, said)
    claim("spare" not in trial.array("status", *trial.members), "a spare is left")
    # It is blank: no --force is needed.
    trial.array("add", "--spare", other, *trial.members)
    say("spares are removed, served or not")


def check_retry(trial):
    """A member that is out comes back with what it missed."""
    trial.start("take-spares=no")
    client = trial.client()
    trial.array("fail", "--member", 1, "--control", trial.control)
    client.pwrite(b"r" * 64 * KIB, 0)
    client.flush()
    said = trial.array("retry", "--member", 0, "--control", trial.control, expected=3)
    claim("member 0 is not out" in said, said)
    trial.array("retry", "--member", 1, "--control", trial.control)
    lab.wait_until(lambda: trial.status()["state"] == "healthy", "member 1 is back")
    client = None
    trial.array("fail", "--member", 2, "--control", trial.control)
    trial.stop()
    # Without a server.
    said = trial.array("retry", "--member", 1, *trial.members, expected=3)
    claim("member 1 is not out" in said, said)
    trial.array("retry", "--member", 2, *trial.members)
    trial.array("rebuild", *trial.members)
    claim("healthy" in trial.array("status", *trial.members), "member 2 is not back")
    say("members are retried, served or not")


def check_replace_live(trial):
    """A live member serves until the new disk has everything; then it is closed, and not missed."""
    text = bytes(range(256)) * 16
    for spare in trial.spare_files:
        spare.unlink(missing_ok=True)
    new, other = trial.folder / "new", trial.folder / "other"
    for path in (new, other):
        path.write_bytes(bytes(trial.members[0].stat().st_size))
    trial.spare_files = []
    trial.start("rebuild-rate=1")  # one stripe at a time, so that the copy can be watched
    with_data = trial.client()
    with_data.pwrite(text, 0)
    with_data.flush()
    trial.array("replace", "--member", 1, "--with", new, "--control", trial.control)
    status = trial.status()
    claim(status["state"] == "healthy" and status["may_fail"] == 1, status)
    claim(status["members"][1]["replaced_by"] == str(new), status)
    said = trial.array("explain", "--control", trial.control)
    claim(f"Member 1 is being replaced by {new}" in said, said)
    said = trial.array("replace", "--member", 2, "--with", other, "--control", trial.control,
                       expected=3)
    claim("member 1 is being replaced" in said, said)
    with_data.pwrite(text, 64 * KIB)
    with_data.flush()
    trial.kill()
    with_data = None
    trial.start("rebuild-rate=1", members=[*trial.members, new])
    claim(trial.status()["members"][1]["replaced_by"] == str(new), "the copy does not resume")
    trial.array("remove", "--spare", new, "--control", trial.control)
    claim(trial.status()["members"][1]["replaced_by"] is None, "the copy is not cancelled")
    trial.array("replace", "--member", 1, "--with", new, "--force", "--control", trial.control)
    trial.array("rebuild", "--rate", 0, "--control", trial.control)
    claim(trial.status()["members"][1]["path"] == str(new), trial.status())
    lab.wait_until(lambda: subprocess.run(["flock", "--nonblock", trial.members[1], "true"],
                                          check=False).returncode == 0, "the old disk is closed")
    trial.members[1].write_bytes(b"")
    trial.members[1] = new
    trial.stop()
    log = (trial.folder / "log").read_text()
    claim(f"member 1 is now {new}" in log, log)
    # Without a server: begun by replace, completed by rebuild.
    trial.array("replace", "--member", 2, "--with", other, *trial.members)
    said = trial.array("rebuild", *trial.members, other)
    claim(f"{other}" in said and "live" in said, said)
    trial.members[2].write_bytes(b"")
    trial.members[2] = other
    trial.members[0].unlink()
    trial.start(members=trial.members[1:])
    client = trial.client()
    claim(client.pread(len(text), 0) == text and client.pread(len(text), 64 * KIB) == text,
          "other bytes after the replacements")
    client = None
    trial.stop()
    say("live members are replaced, served or not, also after a kill")


def main():
    lab.need("nbdkit", "nbdinfo")
    with lab.Lab(data=2, parity=1, spares=2, member=640 * KIB,
                 more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        check_sockets(trial)
        check_spares(trial)
        check_retry(trial)
        check_replace_live(trial)
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
