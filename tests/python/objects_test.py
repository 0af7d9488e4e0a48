# SPDX-License-Identifier: Apache-2.0
"""Objects of any length, and specs as bytes. This file must pass without NumPy."""
import array
import dataclasses
import pathlib
import re

import calpe
import pytest
from stripes import randoms

ROOT = pathlib.Path(__file__).parents[2]
CODECS = [
    {}, {"profile": "lrc", "local_groups": 1}, {"profile": "hybrid", "layout": "packets"},
    {"profile": "cauchy-good", "layout": "packets", "packet_bytes": 8}]


@pytest.mark.parametrize("options", CODECS)
def test_parity_is_that_of_padded_shards(options):
    codec = calpe.Codec(4, 3, **options)
    rng = randoms("objects")
    for size in (0, 1, 3, 4, 63, 1000, 10001):
        content = rng.randbytes(size)
        least = codec.shard_bytes_for(size)
        for shard_bytes in (None, least + codec.shard_bytes_multiple):
            data = codec.split(content, shard_bytes)
            length = least if shard_bytes is None else shard_bytes
            assert len(data) == 4 and b"".join(data) == content
            padded = [bytes(shard).ljust(length, b"\0") for shard in data]
            parity = codec.encode_object(content, shard_bytes=shard_bytes)
            assert parity == codec.encode(padded)
            again = [bytearray(len(shard)) for shard in parity]
            assert codec.encode_object(content, again, shard_bytes=shard_bytes) is again
            assert again == parity


@pytest.mark.parametrize("options", CODECS)
def test_lost_shards_are_rebuilt_in_the_object(options):
    codec = calpe.Codec(4, 3, **options)
    rng = randoms("lost objects")
    for size in (0, 1, 10, 999):
        content = rng.randbytes(size)
        parity = codec.encode_object(content)
        for lost in ([0], [3], [2, 1], [1, 3]):
            received = bytearray(content)
            data = codec.split(received)
            for index in lost:
                data[index][:] = bytes(len(data[index]))
            available = [index for index in range(7) if index not in lost]
            plan = codec.plan_decode(available, lost)
            codec.decode_object(plan, received, parity)
            assert received == content
            survivors = {index: parity[index - 4] for index in plan.reads if index >= 4}
            data[lost[0]][:] = bytes(len(data[lost[0]]))
            codec.decode_object(plan, received, survivors)
            assert received == content


def test_views_share_the_memory_of_any_buffer():
    codec = calpe.Codec(2, 1)
    numbers = array.array("I", [1, 2, 3])
    first, second = codec.split(numbers)
    assert len(first) == 6 and not first.readonly
    second[:] = bytes(6)
    assert numbers[2] == 0
    assert codec.split(b"ab")[0].readonly
    assert [len(view) for view in codec.split(array.array("I"))] == [0, 0]


def test_refusals_of_objects():
    codec = calpe.Codec(4, 2)
    with pytest.raises(calpe.InvalidArgumentError, match="shard_bytes is 2; expected at least 3"):
        codec.encode_object(bytes(10), shard_bytes=2)
    with pytest.raises(calpe.InvalidArgumentError, match="at most"):
        codec.encode_object(bytes(10), shard_bytes=2**63)
    with pytest.raises(calpe.InvalidArgumentError, match="object_bytes is -1"):
        codec.shard_bytes_for(-1)
    with pytest.raises(calpe.InvalidArgumentError, match=r"parity\[1\] has 4 bytes; expected 3"):
        codec.encode_object(bytes(10), [bytearray(3), bytearray(4)])
    with pytest.raises(TypeError, match="content is list"):
        codec.encode_object([b"a"])
    plan = codec.plan_decode([1, 2, 3, 4], [0])
    with pytest.raises(calpe.InvalidArgumentError, match="content is read-only"):
        codec.decode_object(plan, bytes(10), [bytes(3), None])
    with pytest.raises(calpe.InvalidArgumentError, match=r"parity\[4\] has 0 bytes; expected 3"):
        codec.decode_object(plan, bytearray(10), {5: bytes(3)})
    with pytest.raises(calpe.InvalidArgumentError, match="plan writes parity shard 4"):
        codec.decode_object(codec.plan_encode(), bytearray(10), [bytes(3)] * 2)
    codec.decode_object(plan, bytearray(10), [bytes(3), None])


@pytest.mark.parametrize("profile", [profile.name for profile in calpe.codes()])
def test_specs_of_every_profile_as_bytes(profile):
    for layout in next(p.layouts for p in calpe.codes() if p.name == profile):
        groups = 1 if profile == "lrc" else 0
        spec = calpe.Codec(4, 2, profile=profile, layout=layout, local_groups=groups).spec
        stored = spec.to_bytes()
        assert len(stored) == 64
        for held in (stored, bytearray(stored), memoryview(stored)):
            assert calpe.CodeSpec.from_bytes(held) == spec
        assert calpe.Codec(calpe.CodeSpec.from_bytes(stored)).spec == spec


def test_the_documented_bytes():
    text = (ROOT / "docs/codes.md").read_text()
    section = re.search(r"^### Stored spec\n(.*?)^## ", text, re.M | re.S)[1]
    shown = bytes.fromhex("".join(re.findall(r"^    ([0-9a-f ]+)$", section, re.M)))
    assert calpe.Codec(10, 4).spec.to_bytes() == shown


def test_damaged_and_unresolved_specs():
    spec = calpe.Codec(10, 4).spec
    stored = spec.to_bytes()
    for bit in range(8 * len(stored)):
        damaged = bytearray(stored)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(calpe.CorruptError):
            calpe.CodeSpec.from_bytes(damaged)
    with pytest.raises(calpe.CorruptError, match="there are 63; expected 64"):
        calpe.CodeSpec.from_bytes(stored[:-1])
    with pytest.raises(calpe.InvalidArgumentError, match="family is default"):
        calpe.CodeSpec(10, 4).to_bytes()
    with pytest.raises(calpe.InvalidArgumentError, match="matrix_hash is 0"):
        dataclasses.replace(spec, matrix_hash=0).to_bytes()
    with pytest.raises(TypeError, match="data is int"):
        calpe.CodeSpec.from_bytes(3)
