# SPDX-License-Identifier: Apache-2.0
"""Random stripes for tests; failures print the seed."""
import itertools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "golden"))
import reference_codes  # noqa: E402  the independent implementation
import vectors_test as golden  # noqa: E402

SEED = int(os.environ.get("CALPE_SEED", "1"))
IS_NIGHTLY = os.environ.get("CALPE_NIGHTLY") == "1"


def randoms(name):
    """Returns a separate generator per test, so that the order of tests does not matter."""
    return random.Random(f"{SEED} {name}")


def data_shards(rng, count, size):
    return [rng.randbytes(size) for _ in range(count)]


def reference_parity(spec, rows, data):
    """`spec` is resolved; `rows` come from `calpe.parity_rows` or a custom matrix."""
    field = golden.field_of(spec.word_bits, spec.polynomial)
    if spec.layout == "bytes":
        return reference_codes.encode_bytes(field, rows, data)
    return reference_codes.encode_packets(field, rows, data, spec.packet_bytes)


def loss_patterns(shards, losses):
    return itertools.combinations(range(shards), losses)
