# SPDX-License-Identifier: Apache-2.0
"""Finds the wheels that .ci/install puts into a venv for tests and benchmarks."""
import os
import pathlib

VENV = pathlib.Path(os.environ.get("CALPE_WHEELS", "/opt/calpe-wheels"))


def packages():
    """The directory of the installed packages, or None."""
    return next(iter(VENV.glob("lib/python*/site-packages")), None)


def program(name):
    """The path of a program from a wheel, or None."""
    path = VENV / "bin" / name
    return str(path) if path.exists() else None


def find(pattern):
    """The first matching file of the packages, or None."""
    folder = packages()
    found = sorted(folder.glob(pattern)) if folder else []
    return str(found[0]) if found else None
