# SPDX-License-Identifier: Apache-2.0
"""Errors name the Python caller's parameter and its index: every call with every mistake."""
import re

import calpe
import pytest

CODEC = calpe.Codec(4, 2)
DECODE = CODEC.plan_decode([0, 2, 3, 5], [1, 4])


class Stripe:
    """Good shards of 4+2; each test replaces one."""

    def __init__(self):
        self.data = [bytearray(b"abcd" * 8) for _ in range(4)]
        self.parity = [bytearray(32) for _ in range(2)]
        self.shards = [*self.data, *self.parity]
        self.survivors = [self.shards[i] for i in DECODE.reads]
        self.rebuilt = [self.shards[i] for i in DECODE.writes]
        self.content = bytearray(100)
        self.ends = [bytearray(25), bytearray(25)]


def short(name, index):
    def change(stripe):
        getattr(stripe, name)[index] = bytearray(31)
    return change


def same(name, index, other, position):
    def change(stripe):
        getattr(stripe, name)[index] = getattr(stripe, other)[position]
    return change


def none(name, index):
    def change(stripe):
        getattr(stripe, name)[index] = None
    return change


def drop(name):
    return lambda stripe: getattr(stripe, name).pop()


def batch(stripe):
    good = Stripe()
    return [(good.survivors, good.rebuilt)] * 2 + [(stripe.survivors, stripe.rebuilt)]


CALLS = {
    "encode": lambda s: CODEC.encode(s.data, s.parity),
    "decode": lambda s: CODEC.decode(DECODE, s.survivors, s.rebuilt),
    "mapped": lambda s: CODEC.decode(DECODE, dict(zip(DECODE.reads, s.survivors)), s.rebuilt),
    "run": lambda s: CODEC.run(DECODE, s.survivors, s.rebuilt),
    "run_batch": lambda s: CODEC.run_batch(DECODE, batch(s)),
    "verify": lambda s: CODEC.verify(s.data, s.parity),
    "locate": lambda s: CODEC.locate(s.shards),
    "rebuild": lambda s: CODEC.rebuild([s.shards[0], None, *s.shards[2:4], None, s.shards[5]],
                                       s.rebuilt),
    "rebuild_batch": lambda s: CODEC.rebuild_batch(
        [[None, *Stripe().shards[1:]], [None, *s.shards[1:]]]),
    "encode_object": lambda s: CODEC.encode_object(s.content, s.ends),
    "decode_object": lambda s: CODEC.decode_object(
        CODEC.plan_decode([0, 1, 2, 5], [3]), s.content, s.ends),
    "mapped_object": lambda s: CODEC.decode_object(
        CODEC.plan_decode([0, 1, 2, 5], [3]), s.content, {5: s.ends[1]}),
    "update": lambda s: CODEC.update(1, s.parity, old=b"abc", new=b"xyz", offset=4),
}

BUFFER = "; expected an object with the buffer protocol"
OVERLAP = "; expected separate memory"
MESSAGES = [
    ("encode", drop("data"), "data has 3 shards; expected 4"),
    ("encode", drop("parity"), "parity has 1 shards; expected 2"),
    ("encode", short("data", 3), "data[3] has 31 bytes; expected 32 like data[0]"),
    ("encode", short("parity", 1), "parity[1] has 31 bytes; expected 32 like data[0]"),
    ("encode", same("parity", 1, "data", 2), "parity[1] overlaps data[2]" + OVERLAP),
    ("encode", none("data", 3), "data[3] is NoneType" + BUFFER),
    ("decode", drop("survivors"), "survivors has 3 shards; expected 4"),
    ("decode", short("survivors", 3), "survivors[3] has 31 bytes; expected 32 like survivors[0]"),
    ("decode", short("rebuilt", 1), "rebuilt[1] has 31 bytes; expected 32 like survivors[0]"),
    ("decode", same("rebuilt", 1, "rebuilt", 0), "rebuilt[1] overlaps rebuilt[0]" + OVERLAP),
    ("mapped", short("survivors", 3), "survivors[5] has 31 bytes; expected 32 like survivors[0]"),
    ("mapped", none("survivors", 1), "survivors[2] is NoneType" + BUFFER),
    ("run", short("survivors", 3), "inputs[3] has 31 bytes; expected 32 like inputs[0]"),
    ("run", same("rebuilt", 1, "survivors", 2), "outputs[1] overlaps inputs[2]" + OVERLAP),
    ("run_batch", short("survivors", 3),
     "stripes[2].inputs[3] has 31 bytes; expected 32 like stripes[2].inputs[0]"),
    ("run_batch", none("rebuilt", 1), "stripes[2].outputs[1] is NoneType" + BUFFER),
    ("run_batch", same("rebuilt", 1, "survivors", 2),
     "stripes[2].outputs[1] overlaps stripes[2].inputs[2]" + OVERLAP),
    ("verify", short("data", 3), "data[3] has 31 bytes; expected 32 like data[0]"),
    ("verify", short("parity", 1), "parity[1] has 31 bytes; expected 32 like data[0]"),
    ("locate", drop("shards"), "shards has 5 entries; expected 6"),
    ("locate", short("shards", 5), "shards[5] has 31 bytes; expected 32 like shards[0]"),
    ("rebuild", short("shards", 5), "shards[5] has 31 bytes; expected 32 like shards[0]"),
    ("rebuild", short("rebuilt", 1), "rebuilt[1] has 31 bytes; expected 32 for shard 4"),
    ("rebuild", same("rebuilt", 1, "shards", 2), "rebuilt[1] overlaps shards[2]" + OVERLAP),
    ("rebuild", same("rebuilt", 1, "rebuilt", 0), "rebuilt[1] overlaps rebuilt[0]" + OVERLAP),
    ("rebuild_batch", short("shards", 5),
     "stripes[1][5] has 31 bytes; expected 32 like stripes[1][1]"),
    ("encode_object", drop("ends"), "parity has 1 shards; expected 2"),
    ("encode_object", short("ends", 1), "parity[1] has 31 bytes; expected 25"),
    ("decode_object", none("ends", 1), "parity[1] has 0 bytes; expected 25"),
    ("mapped_object", short("ends", 1), "parity[5] has 31 bytes; expected 25"),
    ("update", drop("parity"), "parity has 1 shards; expected 2"),
    ("update", short("parity", 1), "parity[1] has 31 bytes; expected 32 like shard_bytes"),
]


@pytest.mark.parametrize("call, change, message", MESSAGES)
def test_mistakes_of_lists(call, change, message):
    CALLS[call](Stripe())
    stripe = Stripe()
    change(stripe)
    with pytest.raises((calpe.InvalidArgumentError, TypeError), match="^" + re.escape(message)):
        CALLS[call](stripe)


def test_other_mistakes():
    stripe = Stripe()
    content = memoryview(stripe.content)
    for call, message in [
            (lambda: CODEC.update(1, stripe.parity, old=b"abc", new=b"xy"),
             "new has 2 bytes; expected 3 like old"),
            (lambda: CODEC.update(1, stripe.parity, old=b"abc", new=b"xyz", offset=30),
             "old has 3 bytes from offset 30; expected to end within shard_bytes, 32"),
            (lambda: CODEC.update(1, stripe.parity, old=bytes(32), new=stripe.parity[1]),
             "parity[1] overlaps new" + OVERLAP),
            (lambda: CODEC.update(1, stripe.parity, delta=b"abc", parity_indices=[4, 4]),
             "parity_indices names shard 4 twice"),
            (lambda: CODEC.encode_object(content, [stripe.ends[0], content[:25]]),
             "parity[1] overlaps content" + OVERLAP),
            (lambda: CODEC.split(content, 24),
             "shard_bytes is 24; expected at least 25 as content has 100 bytes"),
            (lambda: CODEC.rebuild_batch([{9: b"x"}]),
             "stripes[0] has index 9; expected an int from 0 to 5"),
            (lambda: CODEC.rebuild({"0": b"x"}),
             "shards has index '0'; expected an int from 0 to 5"),
            (lambda: calpe.add(stripe.parity[0], stripe.parity[0]),
             "target overlaps addend" + OVERLAP)]:
        with pytest.raises(calpe.InvalidArgumentError, match="^" + re.escape(message)):
            call()
