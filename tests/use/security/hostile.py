# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts here: sets with a key, and forged shards.

The forger knows the format (tests/format implements it a second time), so all checksums match. Only
the key is unknown.
"""
import dataclasses
import pathlib
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "format")]
import command  # noqa: E402, pylint: disable=wrong-import-position
import reader  # noqa: E402, pylint: disable=wrong-import-position
import roots  # noqa: E402, pylint: disable=wrong-import-position
import shard_format as fmt  # noqa: E402, pylint: disable=wrong-import-position

NO_ROOT = {"root_kind": 0, "shard_root": bytes(32), "set_root": bytes(32), "hmac": bytes(32),
           "path": bytes(fmt.PATH_BYTES)}
KEY = b"sixteen bytes at least\n"


def main_with_seed(name, work):
    """Runs work(calpe, folder, chance), with a fixed seed unless CALPE_TEST_SEED is set."""
    calpe = command.program_from_arguments()
    return command.run_with_seed(name, lambda folder, chance: work(calpe, folder, chance),
                                 fixed_seed=1)


def write_key(path, key=KEY):
    path.write_bytes(key)
    path.chmod(0o600)
    return path


def forge_block(path, stripe, fill=0xE7):
    """Overwrites a block and its checksum, like an attacker with access to the disk."""
    with open(path, "r+b") as file:
        header = fmt.parse_header(file.read(fmt.HEADER_BYTES))
        block = bytes([fill]) * header.block_bytes
        file.seek(header.block_offset(stripe))
        file.write(block)
        file.seek(header.checksum_offset(stripe))
        file.write(header.block_checksum(stripe, header.index, block).to_bytes(8, "little"))


def remade(raw, **fields):
    """Returns a shard with other header fields and matching checksums."""
    old = fmt.parse_header(raw[:fmt.HEADER_BYTES])
    new = dataclasses.replace(old, **fields)
    out = bytearray(raw)
    for stripe in range(new.stripes):
        at, place = new.block_offset(stripe), new.checksum_offset(stripe)
        block = bytes(raw[at:at + new.block_bytes])
        out[place:place + 8] = new.block_checksum(stripe, new.index, block).to_bytes(8, "little")
    out[:fmt.HEADER_BYTES] = out[-fmt.HEADER_BYTES:] = fmt.header_to_bytes(new)
    return bytes(out)


def blocks_in(raw):
    header = fmt.parse_header(raw[:fmt.HEADER_BYTES])
    return [bytes(raw[header.block_offset(s):header.block_offset(s) + header.block_bytes])
            for s in range(header.stripes)]


def with_roots(shards, key):
    """Adds roots to all shards of a set; no HMAC if `key` is None."""
    header = fmt.parse_header(shards[0][:fmt.HEADER_BYTES])
    headers = roots.headers_with_roots(header, [blocks_in(raw) for raw in shards], key)
    out = []
    for raw, own in zip(shards, headers):
        own = fmt.header_to_bytes(own)
        out.append(own + raw[fmt.HEADER_BYTES:-fmt.HEADER_BYTES] + own)
    return out


def random_bytes(count, seed):
    return random.Random(seed).randbytes(count)
