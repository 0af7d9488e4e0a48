# SPDX-License-Identifier: Apache-2.0
"""Type hints: the package passes mypy --strict, user code is checked, the stub is complete."""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")
ROOT = pathlib.Path(__file__).parents[2]

USER = """
import io
import mmap
import numpy as np
import calpe

codec = calpe.Codec(4, 2, profile="cauchy")
data = [b"ab", bytearray(b"cd"), memoryview(b"ef"), b"gh"]
parity = codec.encode(data)
parity[0].append(1)
array = np.zeros((2, 4096), np.uint8)
out = codec.encode(np.zeros((4, 4096), np.uint8), array)
out.sum()
plan: calpe.Plan = codec.plan_decode(range(1, 6), [0])
codec.decode(plan, {1: b"ab", 2: array[0]})
rebuilt: list[bytearray] = codec.rebuild([None, *data[1:], *parity])
codec.rebuild({1: b"ab", 2: array[0]}, array, data_only=True).sum()
codec.rebuild_batch([[None, *data[1:], *parity]])[0][0].append(1)
codec.update(0, [array[0], mmap.mmap(-1, 4096)], delta=array[1])
wrong: tuple[int, ...] = codec.verify(data, parity)
located: tuple[int, ...] = codec.locate([None, *data[1:], *parity])
count: int = codec.encode_stream(open("a", "rb"), [open("b", "wb"), None])
codec.encode_stream(io.BytesIO(), lambda stripe: print(stripe.blocks[0].nbytes))
codec.decode_stream([None, io.BytesIO()], io.BytesIO(), count, block_bytes=4096)
codec.decode_stream(lambda block: b"" if block.shard else None, open("c", "wb"), count)
for stripe in codec.encode_stripes([b"ab", array]):
    blocks: tuple[memoryview, ...] = stripe.blocks
b"".join(codec.decode_stripes([[None, b"ab"], {1: b"ab"}], 7))
class Tensor:
    def __dlpack__(self, stream: object = None) -> object: return stream
    def __dlpack_device__(self) -> tuple[int, int]: return 1, 0
codec.encode([Tensor()] * 4, [Tensor(), Tensor()])
queued: calpe.QueuePlan = codec.prepare_queue(plan, 4096)
queued.enqueue_cuda(0, [1, 2], (3,), 4, queued.workspace_bytes())
nines: float = calpe.durability("10+4", afr=0.01).nines
"""

WRONG = ["calpe.Codec('4', 2)", "codec.encode(data, [b'read-only'])", "codec.encode(7)",
         "codec.rebuild(7)", "codec.encode_stream(7, [])", "codec.decode_stream([], 7, 1)",
        
         "codec.update(0, parity, 1)", "codec.no_such()", "plan.reads.append(1)",
         "parity_bytes: str = codec.parity_bytes(7)", "calpe.durability('10+4', af=1)"]


def mypy(*arguments, module="mypy"):
    environment = dict(os.environ, MYPYPATH=str(ROOT / "python"))
    return subprocess.run([sys.executable, "-m", module, *arguments], text=True, cwd=ROOT,
                          capture_output=True, env=environment)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Shares one mypy cache, so that NumPy's stubs are read only once."""
    return tmp_path_factory.mktemp("mypy")


def test_package_passes_mypy_strict(cache):
    result = mypy("--strict", "--cache-dir", cache, "-p", "calpe")
    assert result.returncode == 0, result.stdout + result.stderr


def test_users_are_checked(tmp_path, cache):
    user = tmp_path / "user.py"
    user.write_text(USER + "\n".join(WRONG) + "\n")
    result = mypy("--strict", "--cache-dir", cache, user)
    lines = USER.count("\n")
    found = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    assert found == set(range(lines + 1, lines + 1 + len(WRONG))), result.stdout


def test_stub_matches_the_extension():
    import calpe._native as native

    stub = (ROOT / "python/calpe/_native.pyi").read_text()
    holders = (native.Codec, native.Plan, native.PreparedPlan, native.QueuePlan,
               native.Pending)
    classes = {holder.__name__ for holder in holders}
    for holder in (native, *holders):
        for name in vars(holder):
            if name in classes or name == "version" or name.startswith("_"):
                continue
            assert f"def {name}(" in stub, f"{name} is not in the stub"
    for line in stub.splitlines():
        if line.startswith("def "):
            assert hasattr(native, line[4:line.index("(")]), line
        if line.startswith("    def ") and "__init__" not in line:
            name = line[8:line.index("(")]
            assert any(hasattr(holder, name) for holder in holders), line
