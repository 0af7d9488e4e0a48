# SPDX-License-Identifier: Apache-2.0
"""Codec.rebuild: every loss of small codes, any buffer, refusals and threads."""
import array
import concurrent.futures
import itertools

import calpe
import pytest
from stripes import data_shards, randoms

CODES = [((4, 2), {}), ((3, 3), {"profile": "lch"}),
         ((4, 4), {"profile": "lrc", "local_groups": 2}),
         ((4, 2), {"profile": "cauchy", "layout": "packets", "packet_bytes": 8})]


def stripe(codec, size, name="rebuild"):
    data = data_shards(randoms(name), codec.spec.data_shards, size)
    return [*data, *map(bytes, codec.encode(data))]


def without(shards, lost):
    return [None if i in lost else shard for i, shard in enumerate(shards)]


@pytest.mark.parametrize("shape, options", CODES)
def test_every_loss_is_rebuilt_or_refused(shape, options):
    codec = calpe.Codec(*shape, **options)
    shards = stripe(codec, 101)
    for count in range(len(shards)):
        for lost in itertools.combinations(range(len(shards)), count):
            left = without(shards, lost)
            try:
                rebuilt = codec.rebuild(left)
            except calpe.UnrecoverableError:
                assert count > codec.proof.losses
                continue
            except calpe.InvalidArgumentError as error:  # only parity is left
                assert "pass shard_bytes" in str(error)
                rebuilt = codec.rebuild(left, shard_bytes=101)
            assert rebuilt == [shards[i] for i in lost]
            assert all(isinstance(shard, bytearray) for shard in rebuilt)
            data = codec.rebuild(left, data_only=True, shard_bytes=101)
            assert data == [shards[i] for i in lost if i < shape[0]]


def test_only_parity_of_packets_needs_the_length():
    codec = calpe.Codec(2, 3, profile="cauchy", layout="packets", packet_bytes=8)
    shards = stripe(codec, 101)
    left = [None, None, *shards[2:]]
    with pytest.raises(calpe.InvalidArgumentError, match="pass shard_bytes"):
        codec.rebuild(left)
    assert codec.rebuild(left, shard_bytes=101) == shards[:2]
    assert codec.rebuild(left, [bytearray(101), bytearray(101)]) == shards[:2]


def test_mappings_and_buffers():
    codec = calpe.Codec(3, 2)
    shards = stripe(codec, 8)
    left = {4: memoryview(shards[4]), 1: array.array("H", shards[1]), 0: bytearray(shards[0])}
    assert codec.rebuild(left) == [shards[2], shards[3]]
    rebuilt = (bytearray(8), memoryview(bytearray(8)))
    assert codec.rebuild(left, rebuilt, stores="cached") is rebuilt
    assert list(rebuilt) == [shards[2], shards[3]]
    assert codec.rebuild(shards) == []
    with pytest.raises(calpe.InvalidArgumentError, match="shards has index 5; expected"):
        codec.rebuild({**left, 5: b""})


def test_numpy_rows_are_rebuilt_in_place():
    numpy = pytest.importorskip("numpy")
    codec = calpe.Codec(4, 2)
    whole = numpy.zeros((6, 1000), numpy.uint8)
    whole[:4] = numpy.arange(4000, dtype=numpy.uint16).reshape(4, 1000)
    codec.encode(whole[:4], whole[4:])
    now = whole.copy()
    now[[1, 4]] = 0
    codec.rebuild(without(now, (1, 4)), [now[1], now[4]])
    assert (now == whole).all()
    assert codec.rebuild(whole) == []


def test_refusals_name_the_argument():
    codec = calpe.Codec(4, 2)
    shards = stripe(codec, 100)
    lost = without(shards, (1, 4))
    with pytest.raises(calpe.UnrecoverableError, match="needed: any 4"):
        codec.rebuild(without(shards, (0, 1, 2)))
    with pytest.raises(calpe.UnrecoverableError):
        codec.rebuild([None] * 6)
    for wrong, says in [
            (shards[:5], "shards has 5 entries; expected 6"),
            ([None, *shards], "shards has 7 entries; expected 6"),
            ([*lost[:5], b"short"], r"shards\[5\] has 5 bytes; expected 100"),
            ([*lost[:5], memoryview(shards[5])[::2]], r"shards\[5\] is not contiguous")]:
        with pytest.raises(calpe.InvalidArgumentError, match=says):
            codec.rebuild(wrong)
    for rebuilt, says in [
            ([bytearray(100)], "rebuilt has 1 shards; expected 2 for shards 1, 4"),
            ([bytearray(100), bytearray(99)], r"rebuilt\[1\] has 99 bytes; expected 100"),
            ([bytearray(100), bytearray(0)], r"rebuilt\[1\] has 0 bytes; expected 100"),
            ([bytes(100), bytearray(100)], r"rebuilt\[0\] is read-only"),
            ([bytearray(100)] * 2, r"rebuilt\[1\] overlaps rebuilt\[0\]")]:
        with pytest.raises(calpe.InvalidArgumentError, match=says):
            codec.rebuild(lost, rebuilt)
    with pytest.raises(calpe.InvalidArgumentError, match="stores is"):
        codec.rebuild(lost, stores="never")
    for wrong in (7, [None, 7, *shards[2:]], b"one buffer".hex()):
        with pytest.raises(TypeError):
            codec.rebuild(wrong)


def test_batches():
    codec = calpe.Codec(4, 2)
    stripes = [stripe(codec, size, f"batch {size}") for size in (0, 1, 64, 1000, *range(100, 200))]
    lost = [without(shards, (0, 5)) for shards in stripes]
    assert codec.rebuild_batch(lost) == [[shards[0], shards[5]] for shards in stripes]
    assert codec.rebuild_batch(iter(lost), data_only=True) == [[shards[0]] for shards in stripes]
    assert codec.rebuild_batch([]) == []
    with pytest.raises(calpe.InvalidArgumentError,
                       match=r"stripes\[1\] has None for shards 1; expected shards 0, 5"):
        codec.rebuild_batch([lost[0], without(stripes[1], [1])])
    lost[2][3] = b"short"
    with pytest.raises(calpe.InvalidArgumentError, match=r"stripes\[2\]\[3\] has 5 bytes"):
        codec.rebuild_batch(lost)


def test_threads_share_a_codec():
    codec = calpe.Codec(4, 2, plan_cache_entries=4)
    shards = stripe(codec, 5000)
    losses = list(itertools.combinations(range(6), 2)) * 10
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda lost: codec.rebuild(without(shards, lost)), losses)
        for lost, rebuilt in zip(losses, results):
            assert rebuilt == [shards[i] for i in lost]
