# SPDX-License-Identifier: Apache-2.0
"""Runs `pip install .` from a clean copy of the tree in a virtual environment, and uses the result.

Needs no network: the build requirements come from the system. Compiles the whole library, so it
runs only in the nightly run (CALPE_NIGHTLY=1).
"""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402
from stripes import IS_NIGHTLY  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not IS_NIGHTLY, reason="takes minutes: set CALPE_NIGHTLY=1")

USE = """
import sys, calpe
assert calpe.__file__.startswith(sys.prefix), calpe.__file__
codec = calpe.Codec(10, 4)
data = [bytes([i]) * 1000 for i in range(10)]
shards = dict(enumerate([*data, *codec.encode(data)]))
for lost in (0, 3, 7, 12):
    del shards[lost]
assert codec.decode(codec.plan_decode(shards, [0, 3, 7]), shards) == [data[0], data[3], data[7]]
assert calpe.durability("10+4").nines > 5 and "numpy" not in sys.modules
print("calpe", calpe.__version__, codec.backend)
"""


def run(*arguments, **options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(arguments, text=True, capture_output=True, env=environment, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_wheel(tmp_path):
    if not wheels.find("scikit_build_core/__init__.py"):
        pytest.skip("scikit-build-core is not installed: .ci/install")
    source = tmp_path / "source"
    files = run("git", "ls-files", "-z", cwd=ROOT).split("\0")[:-1]
    for name in files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    [packages] = (tmp_path / "venv/lib").glob("python*/site-packages")
    (packages / "wheels.pth").write_text(f"{wheels.packages()}\n")
    run(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", ".",
        cwd=source)
    [package] = (tmp_path / "venv/lib").glob("python*/site-packages/calpe")
    names = {path.name for path in package.iterdir()}
    assert {"__init__.py", "py.typed", "_native.pyi"} <= names, names
    [extension] = package.glob("_native.*.so")
    said = run(python, "-c", USE, cwd=tmp_path)
    print(said, f"{extension.name}: {extension.stat().st_size} bytes")
    run(python, "-m", "pip", "uninstall", "-y", "calpe")
    # -I ignores PYTHONPATH, which ctest sets to the build tree.
    gone = subprocess.run([python, "-I", "-c", "import calpe"], cwd=tmp_path, capture_output=True)
    assert gone.returncode != 0
