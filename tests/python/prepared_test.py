# SPDX-License-Identifier: Apache-2.0
"""Codec.prepare: many small stripes in two buffers."""
import calpe
import pytest
from stripes import randoms


@pytest.mark.parametrize("size", [1, 63, 64, 65, 512, 9000])
@pytest.mark.parametrize("stripes", [0, 1, 7])
def test_stripes_are_coded_as_by_encode(size, stripes):
    codec = calpe.Codec(4, 2)
    prepared = codec.prepare(codec.plan_encode(), size)
    assert prepared.shard_bytes == size
    data = bytes(randoms("prepared").randbytes(stripes * 4 * size))
    expected = b""
    for s in range(stripes):
        shards = [data[(s * 4 + i) * size:(s * 4 + i + 1) * size] for i in range(4)]
        expected += b"".join(map(bytes, codec.encode(shards)))
    assert prepared.run(data) == expected
    out = bytearray(len(expected))
    assert prepared.run(data, out) is out
    assert out == expected


def test_accumulate_adds_to_the_outputs():
    codec = calpe.Codec(2, 1)
    prepared = codec.prepare(codec.plan_encode(), 3, accumulate=True)
    out = bytearray(b"abc")
    prepared.run(b"abcabc", out)
    assert out == b"abc"
    with pytest.raises(calpe.InvalidArgumentError, match="outputs is None"):
        prepared.run(b"abcabc")


def test_refusals_name_the_buffer():
    codec = calpe.Codec(2, 1)
    prepared = codec.prepare(codec.plan_encode(), 3)
    with pytest.raises(calpe.InvalidArgumentError, match="inputs has 7 bytes; expected a multiple"):
        prepared.run(bytes(7))
    with pytest.raises(calpe.InvalidArgumentError, match="outputs has 2 bytes; expected 3"):
        prepared.run(bytes(6), bytearray(2))
    both = bytearray(9)
    with pytest.raises(calpe.InvalidArgumentError, match="outputs overlaps inputs"):
        prepared.run(memoryview(both)[:6], memoryview(both)[5:8])
    with pytest.raises(calpe.InvalidArgumentError, match="outputs is read-only"):
        prepared.run(bytes(6), bytes(3))
    packets = calpe.Codec(2, 1, profile="cauchy", layout="packets", packet_bytes=8)
    with pytest.raises(calpe.InvalidArgumentError, match="shard_bytes is 9"):
        packets.prepare(packets.plan_encode(), 9)


def test_lengths_that_no_buffer_has_are_refused():
    codec = calpe.Codec(8, 8)
    for size in (2**61 + 1, 2**60, 2**63 - 65):
        with pytest.raises(calpe.InvalidArgumentError, match="shard_bytes is"):
            codec.prepare(codec.plan_encode(), size)
