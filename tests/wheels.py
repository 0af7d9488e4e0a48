# SPDX-License-Identifier: Apache-2.0
"""The wheels that .ci/install installs for tests and benchmarks: a venv outside of the system's
Python. Nothing is found where they are not installed."""
import os
import pathlib

VENV = pathlib.Path(os.environ.get("CALPE_WHEELS", "/opt/calpe-wheels"))


def packages():
    """The folder of the installed packages, or None."""
    return next(iter(VENV.glob("lib/python*/site-packages")), None)


def program(name):
    """A program that a wheel brings, or None."""
    path = VENV / "bin" / name
    return str(path) if path.exists() else None


def find(pattern):
    """The first file of the packages that matches, or None."""
    folder = packages()
    found = sorted(folder.glob(pattern)) if folder else []
    return str(found[0]) if found else None
