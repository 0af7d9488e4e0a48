# SPDX-License-Identifier: Apache-2.0
"""XXH3-64 with seed 0, from the published description of xxHash 0.8."""

MASK = (1 << 64) - 1
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
           0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
SECRET_MIN = 136
STRIPE = 64


def word(source, at):
    return int.from_bytes(source[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def mix16(data, at, secret_at):
    return fold(word(data, at) ^ word(SECRET, secret_at),
                word(data, at + 8) ^ word(SECRET, secret_at + 8))


def avalanche_short(h):
    h = (h ^ h >> 33) * PRIME64[1] & MASK
    h = (h ^ h >> 29) * PRIME64[2] & MASK
    return h ^ h >> 32


def rotated(h, bits):
    return (h << bits | h >> 64 - bits) & MASK


def hash_to_3(data):
    if not data:
        return avalanche_short(word(SECRET, 56) ^ word(SECRET, 64))
    combined = data[0] << 16 | data[len(data) // 2] << 24 | data[-1] | len(data) << 8
    return avalanche_short(combined ^ word(SECRET, 0) & 0xFFFFFFFF ^ word(SECRET, 0) >> 32)


def hash_to_8(data):
    first, last = (int.from_bytes(part, "little") for part in (data[:4], data[-4:]))
    h = (last + (first << 32)) ^ word(SECRET, 8) ^ word(SECRET, 16)
    h ^= rotated(h, 49) ^ rotated(h, 24)
    h = h * 0x9FB21C651E98DF25 & MASK
    h = (h ^ (h >> 35) + len(data)) * 0x9FB21C651E98DF25 & MASK
    return h ^ h >> 28


def hash_to_16(data):
    low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
    high = word(data, len(data) - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(len(data) + swapped + high + fold(low, high) & MASK)


def hash_to_128(data):
    total = len(data) * PRIME64[0]
    for i in range((len(data) - 1) // 32 + 1):  # from both ends inwards
        total += mix16(data, 16 * i, 32 * i)
        total += mix16(data, len(data) - 16 * (i + 1), 32 * i + 16)
    return avalanche(total & MASK)


def hash_to_240(data):
    total = len(data) * PRIME64[0]
    for i in range(8):
        total += mix16(data, 16 * i, 16 * i)
    total = avalanche(total & MASK)
    for i in range(8, len(data) // 16):
        total += mix16(data, 16 * i, 16 * (i - 8) + 3)
    total += mix16(data, len(data) - 16, SECRET_MIN - 17)
    return avalanche(total & MASK)


def accumulate(lanes, data, at, secret_at):
    for i in range(8):
        value = word(data, at + 8 * i)
        key = value ^ word(SECRET, secret_at + 8 * i)
        lanes[i ^ 1] = lanes[i ^ 1] + value & MASK
        lanes[i] = lanes[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK


def scramble(lanes):
    for i in range(8):
        value = lanes[i] ^ lanes[i] >> 47 ^ word(SECRET, len(SECRET) - STRIPE + 8 * i)
        lanes[i] = value * PRIME32[0] & MASK


def hash_long(data):
    lanes = [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4],
             PRIME32[0]]
    stripes_per_block = (len(SECRET) - STRIPE) // 8
    for stripe in range((len(data) - 1) // STRIPE):
        accumulate(lanes, data, STRIPE * stripe, 8 * (stripe % stripes_per_block))
        if (stripe + 1) % stripes_per_block == 0:
            scramble(lanes)
    accumulate(lanes, data, len(data) - STRIPE, len(SECRET) - STRIPE - 7)
    total = len(data) * PRIME64[0]
    for i in range(4):
        total += fold(lanes[2 * i] ^ word(SECRET, 11 + 16 * i),
                      lanes[2 * i + 1] ^ word(SECRET, 19 + 16 * i))
    return avalanche(total & MASK)


def xxh3_64(data):
    if len(data) <= 8:
        return hash_to_3(data) if len(data) <= 3 else hash_to_8(data)
    if len(data) <= 16:
        return hash_to_16(data)
    if len(data) <= 128:
        return hash_to_128(data)
    return hash_to_240(data) if len(data) <= 240 else hash_long(data)
