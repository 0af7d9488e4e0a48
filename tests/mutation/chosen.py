# SPDX-License-Identifier: Apache-2.0
"""24 planted bugs, one of each important kind, for a quick run: run_mutations.py --chosen. At least
one for every suite that can detect one.
"""

CHOSEN = (
    # the codec: coefficients, fields, tails, wide codes, plans, updates, threads, proofs
    "two coefficients of encode are swapped",
    "the log of one element is off by one",
    "the last byte of a tail is left out",
    "wide codes overwrite instead of adding",
    "plans are cached without what is wanted",
    "library: an update plan writes the parity in ascending order",
    "the pool does not wait for its helpers",
    "locate accuses one more than it may",
    "an unproven code is accepted",
    "lch takes the point of the chunk before",
    "C structures are read beyond their size",
    # programs, passes, emitted code and caches
    "no proof after a pass",
    "the jit leaves the ends of units out",
    "a damaged entry is believed",
    "unchecked work of a device that failed is believed",
    # shard files: names of blocks, order on the disk, roots, journals
    "a stale block is good",
    "shards are named before they are on the disk",
    "any key will do",
    "a shard is changed before all journals are complete",
    "pages of parity files are believed as they are",
    # plugins
    "rebuilt Ceph chunks change places",
    # arrays: flushes, checksums, stale members
    "array: parts of a batch are not durable when it is acknowledged",
    "array: a stale member is believed",
    "array: a block that was read is not compared with its checksum",
)
