# SPDX-License-Identifier: Apache-2.0
"""Tags, a second implementation from docs/tags.md, written for reading."""

DIGIT = 64  # bytes
SEGMENT = 480  # digits
LAST = 15  # digits that are left of a segment

# The constant c for each polynomial of GF(2^8).
CONSTANTS = {
    0x11B: 0x06, 0x11D: 0x06, 0x12B: 0x02, 0x12D: 0x07, 0x139: 0x07, 0x13F: 0x03, 0x14D: 0x03,
    0x15F: 0x02, 0x163: 0x02, 0x165: 0x03, 0x169: 0x4C, 0x171: 0x06, 0x177: 0x06, 0x17B: 0x25,
    0x187: 0x0A, 0x18B: 0x0A, 0x18D: 0x13, 0x19F: 0x12, 0x1A3: 0x12, 0x1A9: 0x06, 0x1B1: 0x07,
    0x1BD: 0x09, 0x1C3: 0x06, 0x1CF: 0x12, 0x1D7: 0x0E, 0x1DD: 0x07, 0x1E7: 0x12, 0x1F3: 0x0A,
    0x1F5: 0x13, 0x1F9: 0x0C,
}


def product(a, b, polynomial):
    result = 0
    while b:
        if b & 1:
            result ^= a
        a <<= 1
        if a & 0x100:
            a ^= polynomial
        b >>= 1
    return result


def digest(segment):
    """The last 15 digits q of a segment, as bytes."""
    segment += bytes(-len(segment) % DIGIT)
    q = [0] * LAST  # zeros before the first digit
    for at in range(0, len(segment), DIGIT):
        q.append(int.from_bytes(segment[at:at + DIGIT], "big") ^ q[-14] ^ q[-15])
    return b"".join(value.to_bytes(DIGIT, "big") for value in q[-LAST:])


def tag(shard, polynomial=0x11D):
    step = SEGMENT * DIGIT
    message = b"".join(digest(shard[at:at + step]) for at in range(0, len(shard), step))
    c = CONSTANTS[polynomial]
    multiples = [product(c, top, polynomial) for top in range(256)]
    r = [0] * 8  # from z^7 to z^0
    for byte in message + bytes(512):
        top = r[0]
        r = r[1:] + [byte ^ multiples[top]]
        for place in (3, 4, 5):  # z^4, z^3, z^2
            r[place] ^= top
    return bytes(r)
