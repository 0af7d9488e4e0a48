# SPDX-License-Identifier: Apache-2.0
"""lch over GF(2^16) in plain Python, from docs/codes.md ("More than 256 shards").

Independent of src/: pairs of bytes are multiplied bit by bit, and there are no transforms.
"""
import functools


def multiply_bytes(a, b):
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= 0x11D << (bit - 8)
    return product


def slow_multiply(x, y):
    """(a + b u)(c + d u) with u^2 = u + e6."""
    a, b, c, d = x & 255, x >> 8, y & 255, y >> 8
    squares = multiply_bytes(b, d)
    low = multiply_bytes(a, c) ^ multiply_bytes(squares, 0xE6)
    high = multiply_bytes(a, d) ^ multiply_bytes(b, c) ^ squares
    return low | high << 8


@functools.lru_cache(maxsize=None)
def tables():
    """Powers of an element whose powers are all others, twice, and their logs."""
    for generator in range(2, 65536):
        powers = [1]
        while len(powers) < 65535:
            following = slow_multiply(powers[-1], generator)
            if following == 1:
                break
            powers.append(following)
        if len(powers) == 65535:
            break
    logs = [0] * 65536
    for log, power in enumerate(powers):
        logs[power] = log
    return powers + powers, logs


def multiply(x, y):
    powers, logs = tables()
    return powers[logs[x] + logs[y]] if x and y else 0


def divide(x, y):
    powers, logs = tables()
    return powers[logs[x] - logs[y] + 65535] if x else 0


@functools.lru_cache(maxsize=None)
def points():
    """w_0 .. w_65535: sums of b_0 = 1, b_i = the smallest x with x^2 + x = b_(i-1)."""
    roots = {}
    for x in range(65536):
        roots.setdefault(multiply(x, x) ^ x, x)
    sums = [0]
    element = 1
    for _ in range(16):
        sums += [element ^ other for other in sums]
        element = roots.get(element)
    return sums


def transform_size(parity_shards):
    size = 1
    while size < parity_shards:
        size *= 2
    return size


def row(parity_index, data_shards, parity_shards):
    """The coefficients of one parity shard."""
    size = transform_size(parity_shards)
    w = points()
    return [divide(w[1 + j // size], w[parity_index ^ (size + j)]) for j in range(data_shards)]


def symbols(shard, data_bytes):
    """The symbols of a shard that belongs to data shards of `data_bytes`."""
    padded = bytes(shard) + bytes(128)
    found = []
    for block in range(0, data_bytes, 128):
        unit = min(64, (data_bytes - block + 1) // 2)
        found += [padded[block + i] | padded[block + unit + i] << 8 for i in range(unit)]
    return found
