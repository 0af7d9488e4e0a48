# SPDX-License-Identifier: Apache-2.0
"""A second implementation of every profile, in plain Python, from the formulas of docs/codes.md.

It is independent of src/. Fields multiply bit by bit. Matrices are inverted by elimination, where
the library has closed forms. Packets are coded symbol by symbol, where the library XORs packets.
"""
import functools


class Field:
    """GF(2^w) with schoolbook multiplication, tabulated once."""

    def __init__(self, word_bits, polynomial):
        self.word_bits = word_bits
        self.polynomial = polynomial
        self.size = 1 << word_bits
        elements = range(self.size)
        self.products = [[self.slow_multiply(a, b) for b in elements] for a in elements]
        self.inverses = [row.index(1) if 1 in row else None for row in self.products]

    def slow_multiply(self, a, b):
        product = 0
        for bit in range(self.word_bits):
            if b >> bit & 1:
                product ^= a << bit
        for bit in range(2 * self.word_bits - 2, self.word_bits - 1, -1):
            if product >> bit & 1:
                product ^= self.polynomial << (bit - self.word_bits)
        return product

    def multiply(self, a, b):
        return self.products[a][b]

    def inverse(self, a):
        return self.inverses[a]

    def power(self, base, exponent):
        result = 1
        for _ in range(exponent):
            result = self.multiply(result, base)
        return result

    def ones(self, a):
        """Counts the ones in the bit matrix of a, whose columns are a * 2^t."""
        return sum(bin(self.multiply(a, 1 << t)).count("1") for t in range(self.word_bits))


def matrix_product(field, left, right):
    columns = list(zip(*right))
    result = []
    for row in left:
        out = []
        for column in columns:
            total = 0
            for a, b in zip(row, column):
                total ^= field.multiply(a, b)
            out.append(total)
        result.append(out)
    return result


def inverse_matrix(field, matrix):
    size = len(matrix)
    work = [list(row) + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for c in range(size):
        pivot = next(r for r in range(c, size) if work[r][c])
        work[c], work[pivot] = work[pivot], work[c]
        factor = field.inverse(work[c][c])
        work[c] = [field.multiply(factor, x) for x in work[c]]
        for r in range(size):
            if r != c and work[r][c]:
                factor = work[r][c]
                work[r] = [x ^ field.multiply(factor, y) for x, y in zip(work[r], work[c])]
    return [row[size:] for row in work]


def systematic(field, rows, k):
    """Multiplies all rows by the inverse of the first k; returns the rows after those."""
    return matrix_product(field, rows[k:], inverse_matrix(field, rows[:k]))


def vandermonde_rows_of(field, points, k):
    return [[field.power(x, j) for j in range(k)] for x in points]


# --- the profiles: (field, spec) -> parity rows -------------------------------------------------


def cauchy(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    return [[field.inverse((k + i) ^ j) for j in range(k)] for i in range(m)]


def hybrid(field, spec):
    return [[1] * spec["data_shards"]] + cauchy(field, spec)[1:]


def vandermonde(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    return systematic(field, vandermonde_rows_of(field, range(k + m), k), k)


def vandermonde_zfec(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    points = [0] + [field.power(2, i) for i in range(k + m - 1)]
    return systematic(field, vandermonde_rows_of(field, points, k), k)


def vandermonde_lec(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    points = [field.power(2, i) for i in range(1, k + m + 1)]
    return systematic(field, vandermonde_rows_of(field, points, k), k)


def vandermonde_jerasure(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    extended = vandermonde_rows_of(field, range(k + m - 1), k) + [[0] * (k - 1) + [1]]
    rows = systematic(field, extended, k)
    column_factors = [field.inverse(x) for x in rows[0]]
    rows = [[field.multiply(x, f) for x, f in zip(row, column_factors)] for row in rows]
    scaled = [rows[0]]
    for row in rows[1:]:
        factor = field.inverse(row[0])
        scaled.append([field.multiply(x, factor) for x in row])
    return scaled


def powers_of_two(field, k, m):
    return [[field.power(field.power(2, i), j) for j in range(k)] for i in range(m)]


def vandermonde_isal(field, spec):
    return powers_of_two(field, spec["data_shards"], spec["parity_shards"])


def raid6(field, spec):
    return powers_of_two(field, spec["data_shards"], spec["parity_shards"])


def cauchy_orig(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    return [[field.inverse(i ^ (m + j)) for j in range(k)] for i in range(m)]


def lightest_elements(field, count):
    return sorted(range(1, field.size), key=lambda e: (field.ones(e), e))[:count]


def scaled_row(field, row, factor):
    return [field.multiply(x, factor) for x in row]


def ones_of_row(field, row):
    return sum(field.ones(x) for x in row)


def cauchy_good(field, spec):
    k = spec["data_shards"]
    if spec["parity_shards"] == 2:
        return [[1] * k, lightest_elements(field, k)]
    rows = cauchy_orig(field, spec)
    column_factors = [field.inverse(x) for x in rows[0]]
    rows = [[field.multiply(x, f) for x, f in zip(row, column_factors)] for row in rows]
    # min() keeps the first of equals: the unchanged row, then its elements from the left.
    for i in range(1, len(rows)):
        choices = [rows[i]] + [scaled_row(field, rows[i], field.inverse(x)) for x in rows[i]]
        rows[i] = min(choices, key=lambda row: ones_of_row(field, row))
    return rows


def hybrid_good(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    if m == 2:
        return [[1] * k, lightest_elements(field, k)]
    points = spec["points"][str(field.word_bits)]
    rows = [[1] * k]
    for i in range(1, m):
        row = [field.inverse(points[field.size - i] ^ points[j]) for j in range(k)]
        choices = [scaled_row(field, row, s) for s in range(1, field.size)]
        rows.append(min(choices, key=lambda choice: ones_of_row(field, choice)))
    return rows


def cantor_points(field):
    """w_0 .. w_255: sums of b_0 = 1, b_i = the smallest x with x^2 + x = b_(i-1)."""
    basis = [1]
    while len(basis) < 8:
        basis.append(next(x for x in range(256) if field.multiply(x, x) ^ x == basis[-1]))
    points = []
    for index in range(256):
        point = 0
        for bit in range(8):
            point ^= basis[bit] * (index >> bit & 1)
        points.append(point)
    return points


def lagrange(field, points, values, places):
    """Evaluates the polynomial through these points and values at `places`."""
    found = []
    for x in places:
        total = 0
        for y, value in zip(points, values):
            for z in points if value else []:
                if z != y:
                    value = field.multiply(value, field.multiply(x ^ z, field.inverse(y ^ z)))
            total ^= value
        found.append(total)
    return found


@functools.lru_cache(maxsize=None)
def lch_columns(field, k, m):
    """The parity positions of the codewords of length 256 with a single one in the data.

    A codeword is a polynomial of degree < 256-N at all 256 points. The 256-N data positions, zero
    for shards that do not exist, determine it. Positions m .. N-1 are not stored.
    """
    size = 1
    while size < m:
        size *= 2
    points = cantor_points(field)
    data = points[size:]
    return [lagrange(field, data, [int(t == j) for t in range(len(data))], points[:m])
            for j in range(k)]


def lch(field, spec):
    columns = lch_columns(field, spec["data_shards"], spec["parity_shards"])
    return [list(row) for row in zip(*columns)]


def is_lch_defined(field, k, m):
    places = 1
    while places < m:
        places *= 2
    return field.polynomial == 0x11D and (-(-k // places) + 1) * places <= 256


def default(field, spec):
    k, m = spec["data_shards"], spec["parity_shards"]
    return (lch if m >= 5 and is_lch_defined(field, k, m) else hybrid)(field, spec)


def lrc(field, spec):
    k, m, groups = spec["data_shards"], spec["parity_shards"], spec["local_groups"]
    rows = []
    for g in range(groups):
        first, end = g * k // groups, (g + 1) * k // groups
        rows.append([int(first <= j < end) for j in range(k)])
    global_count = m - groups
    if global_count <= 2:
        return rows + powers_of_two(field, k, global_count + 1)[1:]
    return rows + hybrid(field, {"data_shards": k, "parity_shards": global_count + 1})[1:]


PROFILES = {
    "default": default,
    "cauchy": cauchy,
    "hybrid": hybrid,
    "lch": lch,
    "hybrid-good": hybrid_good,
    "vandermonde": vandermonde,
    "vandermonde-jerasure": vandermonde_jerasure,
    "vandermonde-isal": vandermonde_isal,
    "vandermonde-zfec": vandermonde_zfec,
    "vandermonde-lec": vandermonde_lec,
    "cauchy-orig": cauchy_orig,
    "cauchy-good": cauchy_good,
    "raid6": raid6,
    "lrc": lrc,
}

# --- the layouts --------------------------------------------------------------------------------


def encode_bytes(field, rows, data):
    parity = []
    for row in rows:
        out = bytearray(len(data[0]))
        for coefficient, shard in zip(row, data):
            products = field.products[coefficient]
            for i, byte in enumerate(shard):
                out[i] ^= products[byte]
        parity.append(bytes(out))
    return parity


def packet_groups(word_bits, packet_bytes, shard_bytes):
    """(offset, bytes of a packet) of each group; the last is shorter, or ends in zeros."""
    group_bytes = word_bits * packet_bytes
    groups = [(offset, packet_bytes)
              for offset in range(0, shard_bytes - group_bytes + 1, group_bytes)]
    rest = shard_bytes % group_bytes
    if rest:
        groups.append((shard_bytes - rest, -(-rest // word_bits)))
    return groups


def encode_packets(field, rows, data, packet_bytes):
    w = field.word_bits
    shard_bytes = len(data[0])
    parity_bytes = -(-shard_bytes // w) * w
    padded = [shard + bytes(parity_bytes - shard_bytes) for shard in data]
    parity = [bytearray(parity_bytes) for _ in rows]
    for offset, packet in packet_groups(w, packet_bytes, shard_bytes):
        for at in range(packet):
            places = [offset + u * packet + at for u in range(w)]
            for bit in range(8):  # bit u of the symbol is this bit of packet u
                symbols = [sum((shard[place] >> bit & 1) << u for u, place in enumerate(places))
                           for shard in padded]
                for row, out in zip(rows, parity):
                    total = 0
                    for coefficient, symbol in zip(row, symbols):
                        total ^= field.products[coefficient][symbol]
                    for u, place in enumerate(places):
                        out[place] |= (total >> u & 1) << bit
    return [bytes(out) for out in parity]
