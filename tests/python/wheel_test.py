# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m build` in a copy of the tree, and uses the wheel in an empty environment.

The wheel is built from the source distribution, so that must be complete. Needs no network: the
build requirements come from the system. Compiles the whole library, so it runs only in the nightly
run (CALPE_NIGHTLY=1).
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402
from stripes import IS_NIGHTLY  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not IS_NIGHTLY, reason="takes minutes: set CALPE_NIGHTLY=1")

USE = """
import array, mmap, sys, calpe
assert calpe.__file__.startswith(sys.prefix), calpe.__file__
codec = calpe.Codec(10, 4)
data = [bytes([i]) * 1000 for i in range(10)]
shards = dict(enumerate([*data, *codec.encode(data)]))
for lost in (0, 3, 7, 12):
    del shards[lost]
assert codec.decode(codec.plan_decode(shards, [0, 3, 7]), shards) == [data[0], data[3], data[7]]
kinds = [memoryview(b"abcd"), array.array("H", b"ABCD"), mmap.mmap(-1, 4), bytearray(4)]
assert calpe.Codec(4, 2).encode(kinds)[0][:1] != b""
assert calpe.durability("10+4").nines > 5 and "numpy" not in sys.modules
print("calpe", calpe.__version__, codec.backend)
"""


def run(*arguments, **options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.update(options.pop("more", {}))
    result = subprocess.run(arguments, text=True, capture_output=True, env=environment, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def copy_tree(target):
    """Copies the sources without Git's files and without builds."""
    def left_out(folder, names):
        return {name for name in names if name in (".git", "__pycache__") or
                (name in ("build", "dist") and pathlib.Path(folder) == ROOT)}

    shutil.copytree(ROOT, target, ignore=left_out, symlinks=True)


def test_wheel(tmp_path):
    if not wheels.find("scikit_build_core/__init__.py"):
        pytest.skip("scikit-build-core is not installed: .ci/install")
    pytest.importorskip("build", reason="python3-build is not installed: .ci/install")
    source, out = tmp_path / "source", tmp_path / "dist"
    copy_tree(source)
    run(sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", out,
        cwd=source, more={"PYTHONPATH": str(wheels.packages())})
    [archive], [wheel] = out.glob("calpe-*.tar.gz"), out.glob("calpe-*.whl")
    with tarfile.open(archive) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"CMakeLists.txt", "LICENSE", "PKG-INFO", "src/engine/compile.cpp"} <= names
    assert not {name for name in names if name.startswith(("build/", ".git/"))}

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    run(python, "-m", "pip", "install", "--no-index", wheel)
    [package] = (tmp_path / "venv/lib").glob("python*/site-packages/calpe")
    names = {path.name for path in package.iterdir()}
    assert {"__init__.py", "py.typed", "_native.pyi"} <= names, names
    [extension] = package.glob("_native.*.so")
    said = run(python, "-c", USE, cwd=tmp_path)
    print(said, f"{extension.name}: {extension.stat().st_size} bytes")
    print(f"{archive.name}: {archive.stat().st_size}, {wheel.name}: {wheel.stat().st_size} bytes")
    run(python, "-m", "pip", "uninstall", "-y", "calpe")
    # -I ignores PYTHONPATH, which ctest sets to the build tree.
    gone = subprocess.run([python, "-I", "-c", "import calpe"], cwd=tmp_path, capture_output=True)
    assert gone.returncode != 0
