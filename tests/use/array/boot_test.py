#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An array that is served at boot: arrays.conf, the script and the unit of packaging/systemd.

Usage: boot_test.py CALPE PLUGIN
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration/array"))
import lab
from lab import KIB, claim, say

SYSTEMD = pathlib.Path(__file__).parents[3] / "packaging/systemd"


class Boot:
    def __init__(self, trial):
        self.trial = trial
        self.sockets = trial.folder / "run"
        self.sockets.mkdir()
        self.config = trial.folder / "arrays.conf"
        programs = trial.folder / "bin"
        programs.mkdir()
        (programs / "calpe").symlink_to(pathlib.Path(trial.calpe).resolve())
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}",
                            "CALPE_ARRAYS_CONF": str(self.config), "CALPE_WAIT_SECONDS": "0",
                            "RUNTIME_DIRECTORY": str(self.sockets),
                            "CALPE_NBDKIT_PLUGIN": str(pathlib.Path(trial.plugin).resolve())}

    def start(self, name, **more):
        return subprocess.Popen([SYSTEMD / "calpe-array-start.sh", name], stderr=subprocess.PIPE,
                                text=True, env={**self.environment, **more})

    def refused(self, name, message):
        process = self.start(name)
        said = process.communicate(timeout=lab.PATIENCE_SECONDS)[1]
        claim(process.returncode == 1 and message in said, f"{process.returncode}: {said}")

    def state(self, process, name):
        """Waits until the server answers."""
        control = self.sockets / f"{name}.ctl"

        def asked():
            claim(process.poll() is None, "it ended" if process.poll() is None else
                  process.stderr.read())
            done = subprocess.run([self.trial.calpe, "array", "status", "--control", control],
                                  capture_output=True, text=True)
            return done.stdout if done.returncode in (0, 1) else None

        return lab.wait_until(asked, "the array is served")


def main():
    lab.need("nbdkit")
    with lab.Lab(member=640 * KIB, more=("--chunk", 8 * KIB, "--log", 128 * KIB)) as trial:
        boot = Boot(trial)
        disks = trial.folder / "some disks"
        disks.mkdir()
        plain = trial.folder / "disks"
        plain.symlink_to(disks)  # a word of the file has no blanks
        paths = [path.rename(disks / path.name) for path in trial.members]
        uuid = trial.array("scan", disks).split()[1]
        boot.config.write_text(f"# arrays of this host\n"
                               f"other 00000000-0000-0000-0000-000000000000 scan={plain}\n"
                               f"data {uuid} scan={plain} rebuild-rate=50M take-spares=no")
        boot.refused("nothing", "nothing is not in ")
        boot.refused("other", "no member of array 00000000-")
        for _ in range(2):  # the second time after kill -9, with its sockets left
            process = boot.start("data")
            said = boot.state(process, "data")
            claim("healthy" in said and str(plain / "m0") in said, said)
            claim((boot.sockets / "data.nbd").exists(), "no NBD socket")
            process.kill()
            process.wait()
        # Late members are waited for, missing ones are not for ever.
        away = paths[5].rename(trial.folder / "away")
        process = boot.start("data", CALPE_WAIT_SECONDS="60")
        time.sleep(2)
        claim(not (boot.sockets / "data.nbd").exists() or process.poll() is None, "it ended")
        away.rename(paths[5])
        claim("healthy" in boot.state(process, "data"), "not all members")
        process.terminate()
        claim(process.wait(lab.PATIENCE_SECONDS) == 0, "it did not end")
        paths[5].unlink()
        process = boot.start("data")
        claim("degraded" in boot.state(process, "data"), "not degraded")
        process.terminate()
        process.wait(lab.PATIENCE_SECONDS)
        if shutil.which("systemd-analyze"):
            unit = trial.folder / "calpe-array@data.service"
            text = (SYSTEMD / "calpe-array@.service").read_text()
            unit.write_text(text.replace("/usr/local/libexec/calpe-array-start",
                                         str(SYSTEMD / "calpe-array-start.sh")))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit],
                                  capture_output=True, text=True)
            wrong = [line for line in done.stderr.splitlines() if unit.name in line]
            claim(not wrong, "\n".join(wrong))
    say("arrays of arrays.conf are served, late and missing members included")
    return 0


if __name__ == "__main__":
    lab.use_debians_python()
    sys.exit(main())
