# SPDX-License-Identifier: Apache-2.0
"""Codec operations on plain Python buffers. This file must pass without NumPy."""
import dataclasses
import pickle

import calpe
import pytest
from stripes import data_shards, loss_patterns, randoms


def stripe(codec, size, name):
    data = data_shards(randoms(name), codec.spec.data_shards, size)
    return [*data, *codec.encode(data)]


@pytest.mark.parametrize("options", [
    {}, {"profile": "cauchy"}, {"profile": "vandermonde"},
    {"profile": "hybrid", "layout": "packets"},
    {"profile": "cauchy-good", "layout": "packets", "packet_bytes": 64},
    {"backend": "reference"}, {"threads": 2}])
def test_every_loss_is_rebuilt(options):
    codec = calpe.Codec(4, 3, **options)
    shards = stripe(codec, 2 * codec.shard_bytes_multiple * 512, "losses")
    for losses in range(1, 4):
        for lost in loss_patterns(7, losses):
            left = {i: shard for i, shard in enumerate(shards) if i not in lost}
            plan = codec.plan_decode(left, lost)
            assert plan.writes == lost and set(plan.reads) <= set(left)
            backwards = dict(reversed(left.items()))
            assert codec.decode(plan, backwards) == [shards[i] for i in lost]


def test_beyond_m_is_unrecoverable():
    with pytest.raises(calpe.UnrecoverableError, match="shard"):
        calpe.Codec(4, 2).plan_decode([0, 1, 2], [3])


def test_outputs_are_returned_as_they_were_given():
    codec = calpe.Codec(3, 2)
    data = data_shards(randoms("outputs"), 3, 100)
    parity = (bytearray(100), bytearray(100))
    assert codec.encode(data, parity) is parity
    assert list(parity) == codec.encode(data)
    plan = codec.plan_decode([1, 2, 3], [0, 4])
    rebuilt = [bytearray(100), bytearray(100)]
    assert codec.decode(plan, [data[1], data[2], parity[0]], rebuilt) is rebuilt
    assert rebuilt == [data[0], parity[1]]


@pytest.mark.parametrize("layout", ["bytes", "packets"])
def test_updates_give_the_parity_of_the_new_data(layout):
    codec = calpe.Codec(5, 3, profile="cauchy", layout=layout)
    rng = randoms("updates")
    data = [bytearray(shard) for shard in data_shards(rng, 5, 777)]
    parity = codec.encode(data)
    for trial in range(50):
        index, offset = rng.randrange(5), rng.randrange(777)
        old = bytes(data[index][offset:offset + rng.randrange(1, 100)])
        new = rng.randbytes(len(old))
        data[index][offset:offset + len(old)] = new
        if trial % 2:
            change = {"delta": bytes(a ^ b for a, b in zip(old, new))}
        else:
            change = {"old": old, "new": new}
        codec.update(index, parity, offset=offset, shard_bytes=777, **change)
        assert parity == codec.encode(data), trial


def test_updates_of_some_parity_in_any_order():
    codec = calpe.Codec(3, 3)
    data = [bytearray(b"abcd"), bytearray(b"efgh"), bytearray(b"ijkl")]
    parity = codec.encode(data)
    codec.update(1, [parity[2], parity[0]], old=b"f", new=b"F", offset=1, parity_indices=[5, 3])
    data[1][1:2] = b"F"
    assert codec.verify(data, parity) == (4,)


def test_update_takes_delta_or_old_and_new():
    codec = calpe.Codec(2, 1)
    for change in ({}, {"old": b"a"}, {"delta": b"a", "old": b"a", "new": b"b"}):
        with pytest.raises(TypeError, match="delta, or old and new"):
            codec.update(0, [bytearray(1)], **change)
    with pytest.raises(calpe.InvalidArgumentError, match="shard_bytes is None"):
        calpe.Codec(2, 1, profile="cauchy", layout="packets").update(0, [bytearray(8)], delta=b"a")


def test_verify_names_wrong_parity_and_locate_wrong_shards():
    codec = calpe.Codec(6, 4)
    shards = [bytearray(shard) for shard in stripe(codec, 300, "wrong")]
    assert codec.verify(shards[:6], shards[6:]) == ()
    assert codec.locate(shards) == ()
    shards[7][5] ^= 1
    assert codec.verify(shards[:6], shards[6:]) == (7,)
    shards[2][299] ^= 0x80
    assert codec.locate(shards) == (2, 7)
    missing = [*shards]
    missing[2] = None
    missing[9] = None
    assert codec.locate(missing) == (7,)
    assert codec.locate(shards, missing=[2, 9]) == (7,)
    for wrong in (0, 4):
        shards[wrong][0] ^= 1
    with pytest.raises(calpe.AmbiguousError):
        codec.locate(shards)


def test_partial_sums_add_up_to_the_plan():
    codec = calpe.Codec(6, 3)
    shards = stripe(codec, 500, "partial")
    plan = codec.plan_decode(range(1, 9), [0])
    total = bytearray(500)
    for held in (plan.reads[:2], plan.reads[2:]):
        part = codec.plan_partial(plan, held)
        [sum_of_part] = codec.run(part, [shards[i] for i in part.reads])
        calpe.add(total, sum_of_part)
    assert total == shards[0]
    again = [bytearray(500)]
    for held in (plan.reads[:2], plan.reads[2:]):
        part = codec.plan_partial(plan, held)
        codec.run(part, [shards[i] for i in part.reads], again, accumulate=True)
    assert again == [shards[0]]


def test_accumulate_needs_outputs():
    codec = calpe.Codec(2, 1)
    with pytest.raises(calpe.InvalidArgumentError, match="outputs is None"):
        codec.run(codec.plan_encode(), [b"a", b"b"], accumulate=True)


def test_batch_equals_single_stripes():
    codec = calpe.Codec(4, 2)
    rng = randoms("batch")
    stripes = [(data_shards(rng, 4, size), [bytearray(size), bytearray(size)])
               for size in (0, 1, 64, 1000)]
    codec.run_batch(codec.plan_encode(), stripes)
    for data, parity in stripes:
        assert parity == codec.encode(data)
    with pytest.raises(calpe.InvalidArgumentError, match=r"stripes\[1\] has 3 parts"):
        codec.run_batch(codec.plan_encode(), [stripes[0], (1, 2, 3)])


def test_plans_outlive_their_codec():
    codec = calpe.Codec(4, 2)
    shards = stripe(codec, 64, "outlive")
    plan = codec.plan_decode([1, 2, 3, 4], [0])
    del codec
    assert calpe.Codec(4, 2).decode(plan, shards[1:5]) == [shards[0]]
    assert "writes 0 from 1, 2, 3, 4" in repr(plan)
    assert len(plan.coefficients) == 1 and len(plan.coefficients[0]) == 4
    with pytest.raises(calpe.InvalidArgumentError):
        calpe.Codec(5, 2).decode(plan, shards[1:5])


def test_costs_decide_what_is_read():
    codec = calpe.Codec(4, 2)
    plan = codec.plan_decode([1, 2, 3, 4, 5], [0], costs=[9, 1, 1, 1, 1])
    assert plan.reads == (2, 3, 4, 5)


def test_specs_are_resolved_and_make_the_same_codec():
    codec = calpe.Codec(10, 5, packet_bytes=0)
    assert codec.spec.profile == "lch" and codec.spec.polynomial == 0x11D
    again = calpe.Codec(codec.spec)
    data = data_shards(randoms("specs"), 10, 100)
    assert again.spec == codec.spec and again.encode(data) == codec.encode(data)
    with pytest.raises(calpe.CorruptError, match="hash"):
        calpe.Codec(dataclasses.replace(codec.spec, matrix_hash=codec.spec.matrix_hash ^ 1))
    with pytest.raises(TypeError, match="dataclasses.replace"):
        calpe.Codec(codec.spec, 4)
    with pytest.raises(TypeError, match="parity_shards is missing"):
        calpe.Codec(10)


def test_custom_matrix():
    rows = [(1, 1, 1), (1, 2, 4)]
    codec = calpe.Codec.from_matrix(rows)
    assert codec.spec.profile == "custom"
    assert codec.plan_encode().coefficients == tuple(rows)
    data = data_shards(randoms("matrix"), 3, 50)
    assert pickle.loads(pickle.dumps(codec)).encode(data) == codec.encode(data)
    with pytest.raises(calpe.UnprovenError):
        calpe.Codec.from_matrix([(1, 1), (1, 1)])
    weak = calpe.Codec.from_matrix([(1, 1), (1, 1)], allow_unproven=True)
    with pytest.raises(calpe.UnrecoverableError):
        weak.plan_decode([2, 3], [0, 1])
    with pytest.raises(calpe.InvalidArgumentError, match=r"\[2, 3\] coefficients"):
        calpe.Codec.from_matrix([(1, 1), (1, 1, 1)])


def test_pickles_hold_spec_and_options():
    codec = calpe.Codec(4, 2, profile="cauchy", backend="reference", threads=2)
    again = pickle.loads(pickle.dumps(codec))
    assert again.spec == codec.spec and again.backend == codec.backend == "reference"
    assert again.threads == 2 and repr(again) == repr(codec)
    assert repr(codec) == "<calpe.Codec: cauchy 4+2, bytes, reference>"


@pytest.mark.parametrize("make, message", [
    (lambda: calpe.Codec(0, 4), "data"),
    (lambda: calpe.Codec(300, 4, profile="cauchy"), "is 304; expected at most 256"),
    (lambda: calpe.Codec(70000, 4), "is 70004; expected at most 65536"),
    (lambda: calpe.Codec(-1, 4), "data_shards is -1"),
    (lambda: calpe.Codec(65546, 4), "is 65550; expected at most 65536"),
    (lambda: calpe.Codec(1 << 32, 4), "data_shards is 4294967296; expected 0..4294967295"),
    (lambda: calpe.Codec(4, 2, profile="nonsense"), "vandermonde-isal"),
    (lambda: calpe.Codec(4, 2, layout="rows"), "layout is \"rows\""),
    (lambda: calpe.Codec(4, 2, effort="some"), "effort is \"some\""),
    (lambda: calpe.Codec(4, 2, backend="+++"), r"\+\+\+.; expected a name before and after each"),
    (lambda: calpe.Codec(4, 2).plan_decode([0, 1, 2, 99], [3]), "99"),
    (lambda: calpe.Codec(4, 2).plan_decode([0, 1, 2, -3], [3]), r"available\[3\] is -3"),
    (lambda: calpe.Codec(2, 1).encode([b"a", b"b"], stores="warm"), "stores is \"warm\""),
    (lambda: calpe.Codec(2, 1).encode([b"a"]), "1"),
    (lambda: calpe.Codec(2, 1).encode([b"a", b"bc"]), "2"),
    (lambda: calpe.Codec(2, 1).encode([b"a", b"b"], [bytearray(2)]), "2"),
    (lambda: calpe.Codec(2, 1).equations(style="odd"), "style is \"odd\""),
    (lambda: calpe.Codec(2, 1).equations(style="optimised", budget="odd"), "budget is \"odd\""),
    (lambda: calpe.Codec(2, 1).equations(target="odd"), "target is \"odd\""),
    (lambda: calpe.add(bytearray(2), b"a"), "1"),
    (lambda: calpe.durability("10+4", fill=7), "fill"),
    (lambda: calpe.durability("10+4", model="odd"), "model is \"odd\""),
    (lambda: calpe.durability("ten"), "code is \"ten\""),
])
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(calpe.InvalidArgumentError, match=message) as caught:
        make()
    assert isinstance(caught.value, (calpe.Error, ValueError))
    assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize("make, message", [
    (lambda: calpe.Codec("4", 2), "data_shards is str; expected an int"),
    (lambda: calpe.Codec(4.0, 2), "data_shards is float"),
    (lambda: calpe.Codec(4, 2, effort=9), "effort is 9; expected a str"),
    (lambda: calpe.Codec(4, 2, backend=None), "backend is None; expected a str"),
    (lambda: calpe.Codec(4, 2, profile=b"cauchy"), "profile is b'cauchy'; expected a str"),
    (lambda: calpe.Codec(4, 2, layout=1), "layout is 1; expected a str"),
    (lambda: calpe.Codec(2, 1).encode([b"a", b"b"], stores=1), "stores is 1; expected a str"),
    (lambda: calpe.Codec(4, 2).encode(7), "data is int; expected a sequence"),
    (lambda: calpe.Codec(2, 1).encode(["a", "b"]), r"data\[0\] is str; expected an object with"),
    (lambda: calpe.Codec(2, 1).encode([b"a", None]), r"data\[1\] is NoneType"),
    (lambda: calpe.durability("10+4", fill="full"), "fill is str"),
    (lambda: calpe.durability("10+4", afr=0.01, mttf_hours=1e6), "afr and mttf_hours are given"),
])
def test_wrong_types_are_type_errors(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_every_error_has_its_class_and_message():
    kinds = {error.code for error in calpe.Error.__subclasses__()}
    assert kinds == {"invalid_argument", "unrecoverable", "backend_unavailable", "compile_failed",
                     "device_failed", "io", "corrupt", "out_of_memory", "unproven", "ambiguous"}
    with pytest.raises(calpe.BackendUnavailableError, match="nonesuch|cuda"):
        calpe.Codec(4, 2, backend="cuda:7")
    with pytest.raises(calpe.UnprovenError, match="0, 3, 5"):
        calpe.Codec(10, 5, profile="vandermonde-isal")


def test_exceptions_of_an_iterable_are_propagated():
    def broken():
        yield b"a"
        raise RuntimeError("no more shards")

    with pytest.raises(RuntimeError, match="no more shards"):
        calpe.Codec(2, 1).encode(broken())
    with pytest.raises(RuntimeError, match="no more shards"):
        calpe.Codec(2, 1).plan_decode((len(x) for x in broken()), [0])
