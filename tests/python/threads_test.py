# SPDX-License-Identifier: Apache-2.0
"""The interpreter lock, threads, and the lifetime of held buffers."""
import gc
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import calpe
import numpy as np
import pytest
from stripes import randoms

# The reference backend is slow enough to observe other threads running meanwhile.
SLOW = {"backend": "reference"}


STEPS = 5  # during one call; with the lock held there would be at most two
SECONDS_MAX = 60  # a busy machine may delay other threads, but not that long


def steps_during(call, step):
    """Repeats `step` while `call` runs in a thread; returns the number of steps."""
    began, ended = threading.Event(), threading.Event()

    def work():
        began.set()
        try:
            call()
        finally:
            ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    steps = 0
    while not ended.is_set():
        step()
        steps += 1
        time.sleep(0.001)
    thread.join()
    return steps


def slow_stripe(codec, seconds):
    """Returns data that takes at least this long to encode."""
    size = 1 << 16
    while True:
        data = np.full((codec.spec.data_shards, size), 7, np.uint8)
        parity = np.zeros((codec.spec.parity_shards, size), np.uint8)
        begin = time.monotonic()
        codec.encode(data, parity)
        if time.monotonic() - begin > seconds:
            return data, parity
        size *= 2


@pytest.mark.parametrize("operation", ["encode", "decode", "update", "verify", "locate", "batch"])
def test_other_threads_run_during_a_call(operation):
    """This thread runs during a call in another thread, so that call released the lock."""
    codec = calpe.Codec(4, 2, **SLOW)
    data, parity = slow_stripe(codec, 0.1)
    shards = dict(enumerate([*data, *parity]))
    plan = codec.plan_decode([1, 2, 3, 4, 5], [0])
    calls = {
        "encode": lambda: codec.encode(data, parity),
        "decode": lambda: codec.decode(plan, shards),
        "update": lambda: codec.update(0, parity, delta=data[1]),
        "verify": lambda: codec.verify(data, parity),
        "locate": lambda: codec.locate(np.concatenate([data, parity])),
        "batch": lambda: codec.run_batch(codec.plan_encode(), [(data, parity)]),
    }
    deadline = time.monotonic() + SECONDS_MAX
    steps = 0
    while steps < STEPS and time.monotonic() < deadline:
        steps = max(steps, steps_during(calls[operation], lambda: None))
    assert steps >= STEPS, f"at most {steps} steps during a call"


def test_buffers_are_held_during_the_call():
    codec = calpe.Codec(4, 2, **SLOW)
    data, parity = slow_stripe(codec, 0.1)
    shards = [bytearray(row) for row in data]
    outputs = [bytearray(row) for row in parity]
    refused = 0

    def resize():
        nonlocal refused
        try:
            outputs[0].append(0)
            outputs[0].pop()
        except BufferError:
            refused += 1

    deadline = time.monotonic() + SECONDS_MAX
    while refused < STEPS and time.monotonic() < deadline:
        steps_during(lambda: codec.encode(shards, outputs), resize)
    assert refused >= STEPS, f"an output could be resized during a call, refused {refused} times"
    assert outputs == codec.encode(shards)
    outputs[0].append(0)  # is released again
    shards[0].clear()


def test_temporary_buffers_live_until_the_call_ends():
    codec = calpe.Codec(4, 2)
    rows = [np.full(1 << 20, value, np.uint8) for value in (1, 2, 3, 4)]
    seen = []

    def only_here():
        for row in rows:
            copy = row.copy()
            seen.append(weakref.ref(copy))
            yield copy

    assert codec.encode(only_here()) == codec.encode(rows)
    assert len(seen) == 4 and all(ref() is None for ref in seen)


def test_many_threads_share_a_codec_and_a_plan():
    codec = calpe.Codec(6, 3)
    errors = []

    def work(seed):
        rng = randoms(f"threads {seed}")
        for _ in range(200):
            data = [rng.randbytes(1000) for _ in range(6)]
            shards = dict(enumerate([*data, *codec.encode(data)]))
            lost = rng.sample(range(9), rng.randrange(1, 4))
            left = {i: shard for i, shard in shards.items() if i not in lost}
            plan = codec.plan_decode(left, lost)
            if codec.decode(plan, left) != [shards[i] for i in plan.writes]:
                errors.append((seed, lost))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


# Runs in a separate process, where no other code starts or ends threads.
COUNT_THREADS = """
import os, calpe
def count(): return len(os.listdir("/proc/self/task"))
codec, packets = calpe.Codec(10, 4), calpe.Codec(10, 4, profile="cauchy", layout="packets")
for one in (codec, packets):
    one.encode([bytes(1 << 20)] * 10)
    one.decode(one.plan_decode(range(1, 14), [0]), [bytes(1 << 20)] * 10)
assert codec.threads == packets.threads == 1 and count() == 1, count()
asked = calpe.Codec(10, 4, threads=3)
asked.encode([bytes(1 << 20)] * 10)
assert asked.threads == 3 and count() > 1, count()
"""


def test_no_threads_are_started_by_default():
    subprocess.run([sys.executable, "-c", COUNT_THREADS], check=True)


def all_operations(codec, data, parity, plan):
    codec.encode(data, parity)
    codec.encode(list(data))
    shards = dict(enumerate([*data, *parity]))
    codec.decode(plan, shards)
    codec.plan_decode(shards, [0])
    codec.plan_partial(plan, plan.reads[:2])
    codec.run_batch(codec.plan_encode(), [(data, parity), (list(data), list(parity))])
    codec.update(0, parity, delta=data[1])
    codec.update(0, parity, old=data[1], new=data[0])
    codec.verify(data, parity)
    codec.locate([None, *data[1:], *parity])
    codec.equations()
    codec.spec, codec.proof, codec.backend, repr(codec), repr(plan), plan.coefficients
    calpe.add(parity[0], parity[1])
    calpe.durability("4+2")
    for wrong in (lambda: codec.encode(data[:2]), lambda: codec.encode(data, [b"", b""]),
                  lambda: codec.encode([b"a", b"b", "c", b"d"]),
                  lambda: codec.encode([data[0], data[1], data[2][::2], b""]),
                  lambda: codec.plan_decode([0], [1])):
        try:
            wrong()
        except (calpe.Error, TypeError):
            pass
        else:
            raise AssertionError("was not refused")


def test_nothing_leaks():
    codec = calpe.Codec(4, 2)
    data = np.ones((4, 64), np.uint8)
    parity = [bytearray(64), bytearray(64)]
    plan = codec.plan_decode([1, 2, 3, 4], [0])
    watched = [codec, codec._native, data, parity, *parity, plan, None, calpe.Error]
    for _ in range(500):  # until Python's free lists are full
        all_operations(codec, data, parity, plan)
    gc.collect()
    references = [sys.getrefcount(thing) for thing in watched]
    tracemalloc.start()
    try:
        for _ in range(250):  # until tracing has seen what Python keeps anyway
            all_operations(codec, data, parity, plan)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(500):
            all_operations(codec, data, parity, plan)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    after = [sys.getrefcount(thing) for thing in watched]
    assert all(abs(a - b) < 50 for a, b in zip(references, after)), (references, after)
    assert grown < 20000, f"{grown} bytes more after 500 rounds"
    parity[0].append(0)  # no buffer is held


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_nothing_leaks_outside_of_pythons_memory():
    data = np.ones((4, 64), np.uint8)
    parity = np.zeros((2, 64), np.uint8)

    def round_of_all():
        codec = calpe.Codec(4, 2)
        all_operations(codec, data, list(parity), codec.plan_decode([1, 2, 3, 4], [0]))

    for _ in range(300):
        round_of_all()
    before = resident_bytes()
    for _ in range(1000):
        round_of_all()
    grown = resident_bytes() - before
    assert grown < 4 << 20, f"{grown} bytes more after 1,000 codecs"


def submitted(codec, **options):
    data = [bytes([i + 1]) * 5000 for i in range(4)]
    parity = [bytearray(5000) for _ in range(2)]
    return data, parity, codec.submit(codec.plan_encode(), [(data, parity)], **options)


@pytest.mark.parametrize("threads", [1, 3])
def test_submit_holds_buffers_until_it_is_waited_for(threads):
    codec = calpe.Codec(4, 2, threads=threads)
    data, parity, pending = submitted(codec)
    with pytest.raises(BufferError):
        parity[0].append(1)
    pending.wait()
    pending.wait()  # the same again
    assert parity == codec.encode(data)
    parity[0].append(1)
    data, parity, pending = submitted(codec, accumulate=True)
    with pending:
        del codec
    assert parity == calpe.Codec(4, 2).encode(data)
    data, parity, pending = submitted(calpe.Codec(4, 2, threads=threads), stores="cached")
    del pending  # waits, and releases the buffers
    gc.collect()
    parity[1].append(1)
    assert parity[0] == calpe.Codec(4, 2).encode(data)[0]


def test_submit_refuses_at_once():
    codec = calpe.Codec(2, 1, threads=2)
    with pytest.raises(calpe.InvalidArgumentError,
                       match=r"^stripes\[1\]\.outputs\[0\] has 2 bytes; expected 3 like "):
        codec.submit(codec.plan_encode(), [([b"abc", b"ABC"], [bytearray(3)]),
                                           ([b"abc", b"ABC"], [bytearray(2)])])
    with pytest.raises(calpe.InvalidArgumentError, match="expected .inputs, outputs."):
        codec.submit(codec.plan_encode(), [([b"abc", b"ABC"],)])


def test_several_threads_submit_and_wait():
    codec = calpe.Codec(4, 2, threads=3)
    wrong = []

    def work():
        for _ in range(20):
            jobs = [submitted(codec) for _ in range(3)]
            for data, parity, pending in jobs:
                pending.wait()
                if parity != codec.encode(data):
                    wrong.append(parity)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
