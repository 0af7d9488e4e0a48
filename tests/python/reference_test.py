# SPDX-License-Identifier: Apache-2.0
"""Compares parity with golden vectors, and random codes with plain Python (tests/golden)."""
import json
import pathlib

import calpe
import numpy as np
import pytest
from stripes import IS_NIGHTLY, data_shards, golden, randoms, reference_codes, reference_parity

VECTORS = pathlib.Path(__file__).parent.parent / "vectors"
CASES = 3000 if IS_NIGHTLY else 300


def vectors():
    for path in sorted(VECTORS.glob("*.json")):
        yield from json.loads(path.read_text()).get("vectors", [])


def codec_of(vector):
    hash_of_rows = int(vector["matrix_hash"], 16)
    if vector["profile"] == "custom":
        fields = {name: vector[name] for name in
                  ("layout", "word_bits", "polynomial", "packet_bytes")}
        rows = [bytes.fromhex(row) for row in vector["parity_rows"]]
        return calpe.Codec.from_matrix(rows, matrix_hash=hash_of_rows, **fields)
    fields = {name: vector[name] for name in
              ("profile", "layout", "word_bits", "polynomial", "packet_bytes", "local_groups",
               "data_shards", "parity_shards")}
    return calpe.Codec(calpe.CodeSpec(matrix_hash=hash_of_rows, **fields))


def test_golden_vectors():
    stripes = 0
    for vector in vectors():
        codec = codec_of(vector)
        for stripe in vector["stripes"]:
            size = stripe["shard_bytes"]
            data = [golden.data_shard(j, size) for j in range(vector["data_shards"])]
            parity = [bytes.fromhex(shard) for shard in stripe["parity"]]
            assert codec.encode(data) == parity, golden.name_of(vector)
            assert codec.verify(data, parity) == ()
            stripes += 1
    print(f"{stripes} stripes of golden vectors")
    assert stripes > 500


def random_spec(rng):
    layout = rng.choice(["bytes", "bytes", "packets"])
    name = rng.choice([p.name for p in calpe.codes() if layout in p.layouts])
    data, parity = rng.randrange(2, 13), rng.randrange(1, 5)
    spec = {"layout": layout, "profile": name}
    if name == "lrc":
        groups = rng.randrange(1, 3)
        return calpe.CodeSpec(2 * data, groups + parity, local_groups=groups, **spec)
    if name == "raid6":
        parity = 2
    if layout == "packets":
        spec["packet_bytes"] = rng.choice([8, 16, 64])
        spec["word_bits"] = rng.choice([4, 5, 8])
    return calpe.CodeSpec(data, parity, **spec)


def rows_of(spec):
    field = golden.field_of(spec.word_bits, spec.polynomial)
    points = json.loads((VECTORS / "hybrid-good-points.json").read_text())["points"]
    return reference_codes.PROFILES[spec.profile](
        field, {"data_shards": spec.data_shards, "parity_shards": spec.parity_shards,
                "local_groups": spec.local_groups, "points": points})


def check_rebuild(rng, codec, shards):
    """Rebuilds every promised loss, from and to NumPy arrays."""
    lost = sorted(rng.sample(range(len(shards)), rng.randrange(1, codec.proof.losses + 1)))
    left = {i: np.frombuffer(shard, np.uint8) for i, shard in enumerate(shards) if i not in lost}
    plan = codec.plan_decode(left, lost)
    rebuilt = [np.zeros(len(shards[i]), np.uint8) for i in lost]
    codec.decode(plan, left, rebuilt)
    assert [shard.tobytes() for shard in rebuilt] == [shards[i] for i in lost], lost


def test_random_codes_against_the_reference():
    rng = randoms("reference")
    seen = set()
    for case in range(CASES):
        backend = rng.choice(["auto", "auto", "cpu", "reference"])
        codec = calpe.Codec(random_spec(rng), backend=backend)
        spec = codec.spec
        rows = rows_of(spec)
        assert [tuple(row) for row in rows] == calpe.parity_rows(spec), (case, spec)
        multiple = codec.shard_bytes_multiple
        size = rng.randrange(0, 200) if multiple == 1 else multiple * rng.randrange(0, 2)
        data = data_shards(rng, spec.data_shards, size)
        parity = [bytes(shard) for shard in codec.encode(data)]
        assert parity == reference_parity(spec, rows, data), (case, spec, size)
        check_rebuild(rng, codec, [*data, *parity])
        seen.add((spec.profile, spec.layout))
    print(f"{CASES} codes, {len(seen)} profiles and layouts")
    assert len(seen) >= 15


def test_profiles_match_the_reference():
    assert {profile.name for profile in calpe.codes()} == set(reference_codes.PROFILES)
    for profile in calpe.codes():
        assert profile.layouts and profile.construction


@pytest.mark.parametrize("spec, losses", [
    (calpe.CodeSpec(10, 4), 4), (calpe.CodeSpec(12, 4, profile="lrc", local_groups=2), 3)])
def test_proofs_and_counts_agree(spec, losses):
    proof = calpe.prove(spec)
    assert proof.proven and proof.losses == losses and not proof.dead_pattern
    counts = calpe.count_recoverable(spec)
    assert [count.losses for count in counts] == list(range(1, spec.parity_shards + 1))
    sure = [count.losses for count in counts if count.patterns == count.recoverable]
    assert max(sure) == losses
