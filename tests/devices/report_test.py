#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`calpe selftest --report` on a stand-in for a GPU: report_test.py CALPE

CALPE_TEST_BACKEND names the device. All checks must pass on it, and compiled kernels must come
from the cache of kernels when the device is opened again.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def expect(claim, text):
    if not claim:
        sys.exit(f"report_test: {text}")


def main():
    calpe = sys.argv[1]
    backend = os.environ["CALPE_TEST_BACKEND"]
    with tempfile.TemporaryDirectory() as made:
        path = pathlib.Path(made) / "gpu.json"
        done = subprocess.run(
            [calpe, "selftest", "--backend", backend, "--no-rates", "--report", str(path)],
            capture_output=True, text=True, timeout=500, check=False)
        expect(done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr}")
        report = json.loads(path.read_text())
        device, = report["devices"]
        expect(report["passed"] and device["passed"], f"{report}")
        checks = {check["name"]: check for check in device["checks_of_device"]}
        remark, = [line for line in checks["kernel cache"]["remarks"] if "compiled" in line]
        compiled, again = map(int, re.match(r"(\d+) programs compiled, (\d+) again",
                                            remark).groups())
        expect(compiled > 1 and again == 0, f"kernel cache: {remark}")
        for check in checks.values():
            print(f"{check['name']}: {check['seconds']:.1f} s; {'; '.join(check['remarks'])}")


if __name__ == "__main__":
    main()
