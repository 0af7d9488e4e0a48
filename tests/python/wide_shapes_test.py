# SPDX-License-Identifier: Apache-2.0
"""Random shapes up to 65,536 shards against the independent reference in tests/golden."""
import os
import pathlib
import random
import sys

import calpe
import pytest

numpy = pytest.importorskip("numpy")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import wide_reference as reference  # noqa: E402

SHAPES = 2000
POWERS, LOGS = map(numpy.array, reference.tables())
POINTS = numpy.array(reference.points())


def sum_of_products(coefficients, inputs):
    """For each column of inputs, the XOR of coefficients times inputs."""
    products = POWERS[LOGS[coefficients][:, None] + LOGS[inputs]]
    products[inputs == 0] = 0
    return numpy.bitwise_xor.reduce(products, axis=0)


def row(index, data_shards, parity_shards):
    """reference.row() on arrays; no coefficient is zero."""
    size = reference.transform_size(parity_shards)
    j = numpy.arange(data_shards)
    return POWERS[LOGS[POINTS[1 + j // size]] - LOGS[POINTS[index ^ (size + j)]] + 65535]


def random_shape(choice):
    """Counts of all magnitudes, with k + N <= 65536 and more than 256 shards."""
    while True:
        parity = int(2 ** choice.uniform(0, 15))
        data = int(2 ** choice.uniform(0, 16))
        size = reference.transform_size(parity)
        if data + size <= 65536 and data + parity > 256:
            return data, parity


def test_random_shapes_match_the_reference():
    choice = random.Random(int(os.environ.get("CALPE_TEST_SEED", "1")))
    for number in range(SHAPES):
        data_shards, parity_shards = random_shape(choice)
        length = choice.randint(1, 6)
        codec = calpe.Codec(data_shards, parity_shards)
        data = numpy.frombuffer(choice.randbytes(data_shards * length), dtype=numpy.uint8)
        data = data.reshape(data_shards, length)
        parity = codec.encode(list(data))
        inputs = numpy.array([reference.symbols(shard, length) for shard in data])
        for index in {0, parity_shards - 1, choice.randrange(parity_shards)}:
            expected = sum_of_products(row(index, data_shards, parity_shards), inputs)
            assert reference.symbols(parity[index], length) == expected.tolist(), \
                f"shape {number}: {data_shards}+{parity_shards}, parity {index}"


def test_rows_on_arrays_are_those_of_the_reference():
    for data_shards, parity_shards in [(1, 1), (300, 3), (20, 400), (3000, 70)]:
        for index in range(0, parity_shards, 7):
            assert row(index, data_shards, parity_shards).tolist() == \
                reference.row(index, data_shards, parity_shards)
