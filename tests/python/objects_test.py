# SPDX-License-Identifier: Apache-2.0
"""Specs as bytes. This file must pass without NumPy."""
import dataclasses
import pathlib
import re

import calpe
import pytest

ROOT = pathlib.Path(__file__).parents[2]
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
    with pytest.raises(calpe.CorruptError, match="there are 63, expected 64"):
        calpe.CodeSpec.from_bytes(stored[:-1])
    with pytest.raises(calpe.InvalidArgumentError, match="family is default"):
        calpe.CodeSpec(10, 4).to_bytes()
    with pytest.raises(calpe.InvalidArgumentError, match="matrix_hash is 0"):
        dataclasses.replace(spec, matrix_hash=0).to_bytes()
    with pytest.raises(TypeError, match="data is int"):
        calpe.CodeSpec.from_bytes(3)
