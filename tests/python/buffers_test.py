# SPDX-License-Identifier: Apache-2.0
"""Any contiguous buffer can be a shard, in place; other objects are refused by name."""
import array
import ctypes
import mmap
import tracemalloc

import calpe
import numpy as np
import pytest
from stripes import randoms

SIZE = 4096


def bytes_of(seed):
    return randoms(seed).randbytes(SIZE)


def as_mmap(content):
    area = mmap.mmap(-1, len(content))
    area[:] = content
    return area


KINDS = {
    "bytearray": bytearray,
    "memoryview": lambda content: memoryview(bytearray(content)),
    "array": lambda content: array.array("H", content),
    "ctypes": lambda content: (ctypes.c_ubyte * len(content)).from_buffer_copy(content),
    "mmap": as_mmap,
    "uint8": lambda content: np.frombuffer(content, np.uint8).copy(),
    "float64": lambda content: np.frombuffer(content, np.float64).copy(),
    "matrix": lambda content: np.frombuffer(content, np.uint32).copy().reshape(32, 32),
    "record": lambda content: np.frombuffer(content, [("Oa", "u4"), ("b", "u4")]).copy(),
    "unaligned": lambda content: np.frombuffer(b"x" + content, np.uint8).copy()[1:],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_buffer_is_read_and_written(kind):
    codec = calpe.Codec(2, 2)
    plain = [bytes_of("a"), bytes_of("b")]
    data = [KINDS[kind](content) for content in plain]
    parity = [KINDS[kind](bytes(SIZE)) for _ in range(2)]
    codec.encode(data, parity)
    assert [memoryview(shard).tobytes() for shard in parity] == codec.encode(plain)
    assert codec.verify(data, parity) == ()
    plan = codec.plan_decode([2, 3], [0, 1])
    rebuilt = [KINDS[kind](bytes(SIZE)) for _ in range(2)]
    codec.decode(plan, {2: parity[0], 3: parity[1]}, rebuilt)
    assert [memoryview(shard).tobytes() for shard in rebuilt] == plain


def test_rows_of_an_array_are_shards():
    codec = calpe.Codec(4, 2)
    stripe = np.frombuffer(randoms("rows").randbytes(6 * SIZE), np.uint8).copy().reshape(6, SIZE)
    assert np.shares_memory(codec.encode(stripe[:4], stripe[4:]), stripe)
    assert [row.tobytes() for row in stripe[4:]] == codec.encode([bytes(r) for r in stripe[:4]])
    assert codec.verify(stripe[:4], stripe[4:]) == ()
    assert codec.locate(stripe) == ()
    # Rows with gaps, in reverse order, and with more dimensions.
    part = np.zeros((2, SIZE), np.uint8)[:, :100]
    codec.encode(stripe[:4, :100], part)
    assert (part == stripe[4:, :100]).all()
    codec.encode(stripe[:4][::-1], part.base)
    assert part.base.tobytes() == b"".join(codec.encode([bytes(r) for r in stripe[3::-1]]))
    cubes = stripe.reshape(6, 16, 256)
    assert codec.verify(cubes[:4], cubes[4:]) == ()


def test_rows_of_a_memoryview_and_of_ctypes_are_shards():
    codec = calpe.Codec(2, 1)
    grid = memoryview(bytearray(b"abcABC")).cast("B", [2, 3])
    assert codec.encode(grid) == [b"   "]
    table = ((ctypes.c_ubyte * 3) * 2)((97, 98, 99), (65, 66, 67))
    assert codec.encode(table) == [b"   "]


def test_nothing_is_copied():
    """Outputs are written in place, and no shard-sized memory is allocated."""
    codec = calpe.Codec(4, 2)
    size = 1 << 20
    memory = np.zeros(6 * size, np.uint8)
    memory[:4 * size] = np.arange(4 * size) % 251
    shards = memory.reshape(6, size)
    parity = [memoryview(shards[4]), shards[5]]
    codec.encode(shards[:4], parity)
    tracemalloc.start()
    try:
        codec.encode(shards[:4], parity)
        codec.encode(list(shards[:4]), parity)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16384, f"{peak} bytes for calls with shards of {size}"
    at_address = (ctypes.c_ubyte * size).from_address(shards[5].ctypes.data)
    assert bytes(at_address) == bytes(codec.encode(shards[:4])[1])
    assert memory[5 * size:].any()


def test_new_outputs_belong_to_the_caller():
    first = calpe.Codec(2, 1).encode([b"abc", b"ABC"])
    second = calpe.Codec(2, 1).encode([b"abc", b"ABC"])
    first[0][0] = 0
    first[0].extend(b"more")
    assert second == [b"   "]


@pytest.mark.parametrize("output", [
    bytes(4), memoryview(bytes(4)), memoryview(bytearray(4)).toreadonly(),
    np.frombuffer(bytes(4), np.uint8), np.broadcast_to(np.uint8(0), 4)])
def test_read_only_outputs_are_refused(output):
    codec = calpe.Codec(2, 1)
    with pytest.raises(calpe.InvalidArgumentError, match=r"parity\[0\] is read-only .*writable"):
        codec.encode([b"abcd", b"ABCD"], [output])
    with pytest.raises(calpe.InvalidArgumentError, match="target is read-only"):
        calpe.add(output, b"abcd")


def test_read_only_rows_are_refused():
    locked = np.zeros((1, 4), np.uint8)
    locked.flags.writeable = False
    with pytest.raises(calpe.InvalidArgumentError, match="parity is read-only"):
        calpe.Codec(2, 1).encode([b"abcd", b"ABCD"], locked)
    assert not locked.any()


@pytest.mark.parametrize("shard", [
    np.zeros(8, np.uint8)[::2], np.zeros(4, np.uint8)[::-1], np.zeros((2, 4), np.uint8).T[:2],
    memoryview(bytearray(8))[::2], np.broadcast_to(np.uint8(1), 4)])
def test_gaps_are_refused(shard):
    codec = calpe.Codec(2, 1)
    with pytest.raises(calpe.InvalidArgumentError, match=r"data\[1\] is not contiguous: shape"):
        codec.encode([b"abcd", shard])
    with pytest.raises(calpe.InvalidArgumentError, match="data is not contiguous"):
        codec.encode(np.zeros((2, 8), np.uint8)[:, ::2])


def test_one_dimension_is_refused():
    with pytest.raises(calpe.InvalidArgumentError, match="data is one buffer of 1 dimension"):
        calpe.Codec(2, 1).encode(bytearray(8))


def test_python_objects_are_refused():
    objects = np.array([[1, 2], [3, 4]], object)
    with pytest.raises(calpe.InvalidArgumentError, match="data holds Python objects"):
        calpe.Codec(2, 1).encode(objects)
    fields = np.zeros(2, [("a", "u4"), ("b", object)])
    with pytest.raises(calpe.InvalidArgumentError, match=r"parity\[0\] holds Python objects"):
        calpe.Codec(2, 1).encode([bytes(24), bytes(24)], [fields])


def test_overlaps_are_refused():
    codec = calpe.Codec(2, 1)
    memory = np.zeros(300, np.uint8)
    with pytest.raises(calpe.InvalidArgumentError, match="overlap"):
        codec.encode([memory[:100], memory[100:200]], [memory[150:250]])


def test_released_and_empty_buffers():
    view = memoryview(bytearray(4))
    view.release()
    with pytest.raises(calpe.InvalidArgumentError, match=r"data\[1\] .*released"):
        calpe.Codec(2, 1).encode([b"abcd", view])
    assert calpe.Codec(2, 1).encode([b"", np.zeros(0, np.uint8)]) == [b""]
    assert calpe.Codec(2, 1).encode(np.zeros((2, 0), np.uint8)) == [b""]


def test_lengths_of_new_shards_with_word_bits_16():
    codec = calpe.Codec(2, 300)
    data = [b"x" * 65, b"y" * 65]
    parity = codec.encode(data)
    assert {len(shard) for shard in parity} == {66}
    for rebuild in [lambda: codec.rebuild([None, None, *parity]),
                    lambda: codec.rebuild_batch([[None, None, *parity]])]:
        with pytest.raises(calpe.InvalidArgumentError, match="pass shard_bytes"):
            rebuild()
    assert codec.rebuild([None, None, *parity], shard_bytes=65) == data
    assert codec.rebuild([None, data[1], *parity]) == [data[0]]
    only_parity = codec.plan_decode([2, 3], [0])
    with pytest.raises(calpe.InvalidArgumentError, match="only parity is read"):
        codec.decode(only_parity, dict(enumerate(parity, 2)))
    with pytest.raises(calpe.InvalidArgumentError, match="expected a multiple of 2 with word_bits"):
        codec.prepare(codec.plan_encode(), 65)
    with pytest.raises(calpe.UnrecoverableError):
        codec.rebuild([None] * 301 + [parity[-1]])


def test_lengths_of_new_shards_in_packets():
    codec = calpe.Codec(3, 3, profile="cauchy", layout="packets")
    data = [bytes(b"x" * 1001), bytes(b"y" * 1001), bytes(b"z" * 1001)]
    parity = codec.encode(data)
    assert [len(shard) for shard in parity] == [1008] * 3
    shards = dict(enumerate([*data, *parity]))
    plan = codec.plan_decode([2, 3, 4], [0, 5])
    assert codec.decode(plan, shards) == [data[0], parity[2]]
    only_parity = codec.plan_decode([3, 4, 5], [0])
    with pytest.raises(calpe.InvalidArgumentError, match="only parity is read"):
        codec.decode(only_parity, shards)
    assert codec.decode(only_parity, shards, [bytearray(1001)]) == [data[0]]
    with pytest.raises(calpe.InvalidArgumentError, match="no shard 3, which the plan reads"):
        codec.decode(only_parity, {4: parity[1], 5: parity[2]})
