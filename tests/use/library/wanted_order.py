#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs come in the order of the wanted shards: all ordered lists of one to three shards of 4+3,
through decode, run and run_batch."""
import itertools
import random
import sys

import calpe

DATA, PARITY = 4, 3


def check(is_right, what):
    if not is_right:
        sys.exit(f"wrong: {what}")


def try_codec(codec, size):
    rng = random.Random(1)
    data = [rng.randbytes(size) for _ in range(DATA)]
    shards = [*data, *(bytes(each) for each in codec.encode(data))]
    runs = 0
    for count in range(1, PARITY + 1):
        for wanted in itertools.permutations(range(DATA + PARITY), count):
            left = {i: shards[i] for i in range(len(shards)) if i not in wanted}
            plan = codec.plan_decode(left, wanted)
            expected = [shards[i] for i in wanted]
            check(plan.writes == wanted, f"writes of {wanted}: {plan.writes}")
            check(plan.reads == tuple(sorted(plan.reads)), f"reads of {wanted}: {plan.reads}")
            inputs = [shards[i] for i in plan.reads]
            check(codec.decode(plan, left) == expected, f"decode of {wanted}")
            check(codec.run(plan, inputs) == expected, f"run of {wanted}")
            outputs = [bytearray(len(each)) for each in expected]
            codec.run_batch(plan, [(inputs, outputs)])
            check(outputs == expected, f"run_batch of {wanted}")
            runs += 3
    for wanted in itertools.permutations(range(DATA, DATA + PARITY)):
        check(codec.plan_update(2, wanted).writes == wanted, f"writes of an update of {wanted}")
    for twice in ([6, 6], [0, 5, 0]):
        try:
            codec.plan_decode(range(DATA + PARITY), twice)
            sys.exit(f"wanted {twice} was accepted")
        except calpe.InvalidArgumentError:
            pass
    return runs


def main():
    runs = try_codec(calpe.Codec(DATA, PARITY), 1003)
    runs += try_codec(calpe.Codec(DATA, PARITY, profile="cauchy", layout="packets"), 1003)
    print(f"{runs} runs in the order that was asked for")


if __name__ == "__main__":
    main()
