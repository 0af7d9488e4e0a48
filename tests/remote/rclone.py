#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills calpe remote while rclone uploads.

Usage: rclone.py CALPE
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
# pylint: disable=wrong-import-position
from clouds import has_rclone  # noqa: E402
from command import GOOD, Calpe, expect, run_with_seed  # noqa: E402

SECONDS_MAX = 120
SKIPPED = 77

# Before the upload of a shard, it waits for a line in "gate", and then has something to report.
WRAPPER = """#!/bin/sh
for last; do :; done
case "$1 $last" in
copyto*.s000 | rcat*.s000)
  : > '{folder}/begun'
  read -r line < '{folder}/gate'
  echo "wrapper: continues" >&2
  '{rclone}' "$@"
  code=$?
  : > '{folder}/ended'
  exit $code ;;
esac
exec '{rclone}' "$@"
"""


class Test:
    def __init__(self, calpe, folder, chance):
        self.calpe, self.folder = calpe, folder
        self.drive = folder / "drive"
        config = folder / "rclone.conf"
        config.write_text(f"[drive]\ntype = alias\nremote = {self.drive}\n")
        os.environ["RCLONE_CONFIG"] = str(config)
        programs = folder / "programs"
        programs.mkdir()
        wrapper = programs / "rclone"
        wrapper.write_text(WRAPPER.format(folder=folder, rclone=shutil.which("rclone")))
        wrapper.chmod(0o755)
        self.slow_path = f"{programs}:{os.environ['PATH']}"
        os.mkfifo(folder / "gate")
        # Open for reading as well: the wrapper never waits for a writer, and goes on if we end.
        self.gate = os.open(folder / "gate", os.O_RDWR | os.O_CLOEXEC)
        self.photos = folder / "photos"
        self.photos.mkdir()
        # More than a pipe holds.
        (self.photos / "beach.raw").write_bytes(chance.randbytes(900_000))

    def protect(self):
        return self.calpe.arguments("remote", "protect", self.photos, "--data", 1, "--parity", 1,
                                    "-o", "rclone:drive:calpe", "-o", self.folder / "disk")

    def wait_for(self, name):
        for _ in range(SECONDS_MAX * 50):
            if (self.folder / name).exists():
                return
            time.sleep(0.02)
        expect(False, f"the wrapper of rclone has not {name}")

    def stored(self):
        return {path.relative_to(self.drive): path.read_bytes()
                for path in self.drive.rglob("*") if path.is_file()}

    def check_stop(self, stop):
        """Stops calpe in the middle of an upload: the object is whole."""
        for name in ("drive", "disk"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        for name in ("begun", "ended"):
            (self.folder / name).unlink(missing_ok=True)
        with subprocess.Popen(self.protect(), start_new_session=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL,
                              env={**os.environ, "PATH": self.slow_path}) as child:
            self.wait_for("begun")
            stop(child.pid)
            expect(child.wait(SECONDS_MAX) < 0, "calpe was not stopped")
        os.write(self.gate, b"\n")
        self.wait_for("ended")
        before = self.stored()
        expect(any(path.name.endswith(".s000") for path in before), "no shard was stored")
        done = subprocess.run(self.protect(), capture_output=True, check=False,
                              timeout=SECONDS_MAX)
        expect(done.returncode == GOOD, f"protect failed: {done.stderr}")
        after = self.stored()
        cut = [f"{path}: {len(before[path])} of {len(after[path])} bytes"
               for path in before.keys() & after.keys() if before[path] != after[path]]
        expect(not cut, f"stored in part: {cut}")

    def run(self):
        self.check_stop(lambda pid: os.kill(pid, signal.SIGKILL))
        self.check_stop(lambda pid: os.killpg(pid, signal.SIGINT))  # as a terminal does
        os.close(self.gate)
        return "whole objects after kill -9 and an interrupt"


def main():
    if not has_rclone():
        print("rclone: not installed")
        return SKIPPED
    calpe = Calpe(sys.argv[1])
    return run_with_seed("rclone", lambda folder, chance: Test(calpe, folder, chance).run())


if __name__ == "__main__":
    sys.exit(main())
