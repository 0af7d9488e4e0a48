# SPDX-License-Identifier: Apache-2.0
"""The durability model, written from docs/durability.md: exact fractions, plain elimination.

Shares no code with src/durability.
"""
import math
from fractions import Fraction

HOURS = Fraction(8766)


def solve_linear(matrix, right):
    """Solves matrix x = right by Gaussian elimination, for exact or inexact numbers."""
    size = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, size):
            if rows[r][i] != 0:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b if b else a for a, b in zip(rows[r], rows[i])]
    x = [0] * size
    for i in reversed(range(size)):
        x[i] = (rows[i][size] - sum(rows[i][j] * x[j] for j in range(i + 1, size))) / rows[i][i]
    return x


def rate_of_afr(afr):
    return Fraction(-math.log1p(-afr)) / HOURS


def losses_per_year(n, dead, rate, hours, serial=False, batch=1):
    """1 / mean time to loss; dead[f]: fraction of patterns of f losses that cannot be rebuilt."""
    m = len(dead) - 1
    rate, hours = Fraction(rate), Fraction(hours)
    dead = [Fraction(d) for d in dead] + [Fraction(1)]
    matrix = [[Fraction(0)] * (m + 1) for _ in range(m + 1)]
    for i in range(m + 1):
        up = (n - i) * rate * (batch if i else 1)
        down = Fraction(0) if i == 0 else Fraction(1 if serial else i) / hours
        matrix[i][i] = up + down
        if i < m:
            matrix[i][i + 1] -= up * (1 - dead[i + 1]) / (1 - dead[i])
        if i:
            matrix[i][i - 1] -= down
    return HOURS / solve_linear(matrix, [Fraction(1)] * (m + 1))[0]


def pool_losses_per_year(n, m, pool, rate, waiting, transfer, stripes):
    """Losses a year of a pool whose stripes are on n random devices, by plain elimination."""
    def survival(down):
        ways = sum(math.comb(down, j) * math.comb(pool - down, n - j)
                   for j in range(m + 1, min(n, down) + 1))
        return (1 - ways / math.comb(pool, n)) ** stripes

    size = pool
    matrix = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        up = (pool - i) * Fraction(rate)
        down = Fraction(0) if i == 0 else i / (Fraction(waiting) + i * Fraction(transfer))
        matrix[i][i] = up + down
        if i + 1 < size and survival(i) > 0:
            matrix[i][i + 1] -= up * Fraction(survival(i + 1)) / Fraction(survival(i))
        if i:
            matrix[i][i - 1] -= down
    return HOURS / solve_linear(matrix, [Fraction(1)] * size)[0]


def binomial(n, j, p):
    return math.comb(n, j) * p ** j * (1 - p) ** (n - j)


def rebuild_hours(used, reads, *, read=200e6, write=200e6, share=0.3, network=None, decode=None,
                  pool=None, waiting=12.5):
    if pool:
        seconds = [used * (reads + 1) / ((pool - 1) * share * min(read, write))]
    else:
        seconds = [used / (share * write), used / (share * read)]
    if network:
        seconds.append(used * (reads + 1) / network)
    if decode:
        seconds.append(used * reads / decode)
    return waiting + max(seconds) / 3600


def unreadable(shard_bytes, errors, latent, scrub_days):
    bits = 8 * shard_bytes
    return -math.expm1(bits * math.log1p(-errors)) + \
        latent * shard_bytes / 1e12 * scrub_days / 365.25 / 2


def lost_stripes_per_year(n, dead, rate, hours, stripes, q, scrub_days):
    m = len(dead) - 1
    q = Fraction(q)
    dead = [Fraction(d) for d in dead] + [Fraction(1)] * n

    def stripe_loss(f):
        return sum(binomial(n - f, j, q) * (dead[f + j] - dead[f]) / (1 - dead[f])
                   for j in range(1, n - f + 1))

    lost = Fraction(365.25) / Fraction(scrub_days) * stripe_loss(0) * Fraction(stripes)
    visits = n * Fraction(rate) * HOURS
    for f in range(1, m + 1):
        if dead[f] < 1:
            lost += visits * (1 - dead[f]) * Fraction(stripes) * stripe_loss(f)
        visits *= (n - f) * Fraction(rate) * Fraction(hours) / f
    return lost


def shock_loss(n, dead, hit):
    dead = list(dead) + [1] * n
    return sum(binomial(n, j, Fraction(hit)) * Fraction(dead[j]) for j in range(1, n + 1))


def window_loss(n, m, failures_per_year, days):
    windows = 365 / days
    fails = Fraction(-math.expm1(-failures_per_year / windows))
    loss = sum(binomial(n, j, fails) for j in range(m + 1, n + 1))
    return -math.expm1(windows * math.log1p(-float(loss)))


def losses_by_sets(n, is_alive, rate, hours):
    """Losses a year with one state per set of lost shards, which is exact for an lrc."""
    states, frontier = {frozenset(): 0}, [frozenset()]
    while frontier:
        lost = frontier.pop()
        for shard in range(n):
            more = lost | {shard}
            if more not in states and is_alive(more):
                states[more] = len(states)
                frontier.append(more)
    matrix = [[0.0] * len(states) for _ in states]
    for lost, i in states.items():
        matrix[i][i] = (n - len(lost)) * rate + len(lost) / hours
        for shard in range(n):
            other = lost ^ {shard}
            if other in states:
                matrix[i][states[other]] -= 1 / hours if shard in lost else rate
    return float(HOURS) / solve_linear(matrix, [1.0] * len(states))[0]
