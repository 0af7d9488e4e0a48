# SPDX-License-Identifier: Apache-2.0
"""Streams: methods of Codec for objects that are larger than memory."""
from __future__ import annotations

import operator
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    NamedTuple,
    Optional,
    Union,
)

from ._errors import InvalidArgumentError, UnrecoverableError
from ._shard_lists import whole
from ._stream_files import ShardInput, reader_of, write_all

if TYPE_CHECKING:
    from ._buffers import Buffer
    from ._codec import Codec
    from ._stream_files import Readable, Writable


class StreamStripe(NamedTuple):
    """A coded stripe: its number, the bytes of the object in it, the length of its shards, and its
    k+m blocks. The data blocks of the last stripe may be short or empty.
    """

    number: int
    data_bytes: int
    shard_bytes: int
    blocks: tuple[memoryview, ...]


class StreamBlock(NamedTuple):
    """A block that a decoder needs: its stripe, its shard, its offset in the shard if the blocks of
    a shard are stored one after the other, and its length.
    """

    stripe: int
    shard: int
    offset: int
    size: int


def encode_stream(
    self: Codec,
    source: Readable,
    shards: Union[
        Iterable[Optional[Writable]], Mapping[int, Writable], Callable[[StreamStripe], Any]],
    *,
    block_bytes: int = 65536,
    depth: int = 4,
) -> int:
    """Codes everything that can be read from `source`, and returns the number of bytes. Reads,
    codes and writes different stripes at the same time.

    `source` has `readinto` or `read`, like files. `shards` has k+m objects with `write`, one per
    shard, with None for those not to store. Or it is a function of a `StreamStripe`; the blocks
    are then valid until it returns. To read the object you need its length, `block_bytes` and
    the spec.

    A stripe has `block_bytes` of each shard, and less only in the last stripe. `depth` is the
    number of stripes in memory, each with a thread. Reads and writes may come from any of these
    threads, but never two reads or two writes at the same time. An exception of theirs stops the
    stream and is raised here.

    >>> import io
    >>> shards = [io.BytesIO() for _ in range(3)]
    >>> Codec(2, 1).encode_stream(io.BytesIO(b"abcdABCDxyz"), shards, block_bytes=4)
    11
    >>> [shard.getvalue() for shard in shards]
    [b'abcdxy', b'ABCDz', b'    \\x02y']
    """
    if callable(shards):
        store = shards
    else:
        files = _one_per_shard("shards", shards, self._indices())

        def store(stripe: StreamStripe) -> None:
            for file, block in zip(files, stripe.blocks):
                if file is not None:
                    write_all(file, block)

    return self._native.encode_stream(
        block_bytes, depth, reader_of(source), lambda *stripe: store(StreamStripe(*stripe)))


def decode_stream(
    self: Codec,
    shards: Union[
        Iterable[Optional[Readable]],
        Mapping[int, Readable],
        Callable[[StreamBlock], Optional[Buffer]],
    ],
    sink: Writable,
    object_bytes: int,
    *,
    block_bytes: int = 65536,
    depth: int = 4,
) -> dict[int, OSError]:
    """Reads an object of `object_bytes` from its shards, rebuilds lost data blocks and writes the
    object to `sink`. Reads, codes and writes different stripes at the same time.

    `shards` has k+m objects with `readinto` or `read`, with None for each lost one. A shard begins
    at the current position of its file. Parity is read only to replace lost blocks; other parts
    of a shard are skipped with `seek`, or read if the object cannot seek. A shard that ends too
    early, or whose file raises an `OSError` such as EIO of a failing disk, has lost the rest and is
    not read again. Or `shards` is a function of a `StreamBlock` that returns its bytes, or None if
    the block is lost; its exceptions end the stream.

    Returns the errors of the shards that failed, by index; empty if none did.

    Raises `UnrecoverableError`, which names the stripe and the shards, if too many blocks of a
    stripe are lost; its `__cause__` is the first of these errors. The stripes before it have been
    written.

    >>> import io
    >>> shards = [io.BytesIO(b"abcdxy"), None, io.BytesIO(b"    \\x02y")]
    >>> sink = io.BytesIO()
    >>> Codec(2, 1).decode_stream(shards, sink, 11, block_bytes=4)
    {}
    >>> sink.getvalue()
    b'abcdABCDxyz'
    """
    failed: dict[int, OSError] = {}
    if callable(shards):
        fetch = shards

        def read(stripe: int, shard: int, offset: int, view: memoryview) -> bool:
            block = fetch(StreamBlock(stripe, shard, offset, len(view)))
            if block is None:
                return False
            _copy_block(block, view, shard, stripe)
            return True
    else:
        files = _one_per_shard("shards", shards, self._indices())
        inputs = [None if file is None else ShardInput(file) for file in files]

        def read(stripe: int, shard: int, offset: int, view: memoryview) -> bool:
            found = inputs[shard]
            if found is None or found.read(offset, view):
                return found is not None
            if found.error is not None:
                failed.setdefault(shard, found.error)
            return False

    try:
        self._native.decode_stream(
            block_bytes, depth, object_bytes, read, lambda view: write_all(sink, view))
    except UnrecoverableError as error:
        raise error from next(iter(failed.values()), None)
    return failed


def encode_stripes(
    self: Codec, source: Union[Readable, Iterable[Buffer]], *, block_bytes: int = 65536
) -> Iterator[StreamStripe]:
    """Returns an iterator of the stripes of an object. Each has memory of its own.

    `source` is a file as for `encode_stream`, or an iterable of buffers of any length. It is read
    when the next stripe is asked for.

    >>> for stripe in Codec(2, 1).encode_stripes([b"abcdAB", b"CDxyz"], block_bytes=4):
    ...     print(stripe.number, [bytes(block) for block in stripe.blocks])
    0 [b'abcd', b'ABCD', b'    ']
    1 [b'xy', b'z', b'\\x02y']
    """
    self._native.check_stream(block_bytes)
    stripe_bytes = operator.index(block_bytes) * self.spec.data_shards
    if hasattr(source, "readinto") or hasattr(source, "read"):
        parts = _parts_of_file(reader_of(source), stripe_bytes)
    else:
        parts = _parts_of_chunks(source, stripe_bytes)
    return (_encode_part(self, number, part) for number, part in enumerate(parts))


def decode_stripes(
    self: Codec,
    stripes: Iterable[
        Union[StreamStripe, Iterable[Optional[Buffer]], Mapping[int, Buffer]]],
    object_bytes: int,
    *,
    block_bytes: int = 65536,
) -> Iterator[bytearray]:
    """Returns an iterator of the bytes of an object, one bytearray per stripe.

    Each stripe has its k+m blocks, with None for a lost one, or maps indices to blocks. Raises
    errors as `decode_stream` does, and `InvalidArgumentError` if a block has the wrong length or
    the number of stripes is wrong.

    >>> codec = Codec(2, 1)
    >>> parts = codec.decode_stripes([[None, b"ABCD", b"    "], {0: b"xy", 2: b"\\x02y"}], 11,
    ...                              block_bytes=4)
    >>> b"".join(parts)
    b'abcdABCDxyz'
    """
    self._native.check_stream(block_bytes)
    if operator.index(object_bytes) < 0:
        raise InvalidArgumentError(f"object_bytes is {object_bytes}; expected 0 or more")
    stripe_bytes = operator.index(block_bytes) * self.spec.data_shards
    return _decode_parts(self, stripes, operator.index(object_bytes), stripe_bytes)


def _one_per_shard(operand: str, given: Any, indices: range) -> list[Any]:
    entries = list(whole(operand, given, indices))
    if len(entries) != len(indices):
        raise InvalidArgumentError(
            f"{operand} has {len(entries)} entries; expected {len(indices)} with None for a "
            "missing one")
    return entries


def _copy_block(block: Any, view: memoryview, shard: int, stripe: int) -> None:
    with memoryview(block) as given:
        if given.nbytes != len(view):
            raise InvalidArgumentError(
                f"block of shard {shard} has {given.nbytes} bytes; expected {len(view)} in stripe "
                f"{stripe}")
        if given.nbytes > 0:
            view[:] = given.cast("B")


def _parts_of_file(read: Callable[[memoryview], int], stripe_bytes: int) -> Iterator[bytearray]:
    """Pieces of one stripe each; the last may be shorter."""
    while True:
        part, filled = bytearray(stripe_bytes), 0
        with memoryview(part) as view:
            while filled < stripe_bytes:
                count = read(view[filled:])
                if count == 0:
                    break
                filled += count
        if filled == stripe_bytes:
            yield part
            continue
        del part[filled:]
        if part:
            yield part
        return


def _parts_of_chunks(chunks: Any, stripe_bytes: int) -> Iterator[bytearray]:
    part = bytearray()
    for chunk in chunks:
        with memoryview(chunk) as given:
            if given.nbytes == 0:
                continue
            data, begin = given.cast("B"), 0
            while begin < len(data):
                end = min(begin + stripe_bytes - len(part), len(data))
                part += data[begin:end]
                begin = end
                if len(part) == stripe_bytes:
                    yield part
                    part = bytearray()
            data.release()
    if part:
        yield part


def _encode_part(codec: Codec, number: int, part: bytearray) -> StreamStripe:
    shard_bytes = codec.shard_bytes_for(len(part))
    parity = codec.encode_object(part)
    blocks = (*codec.split(part), *map(memoryview, parity))
    return StreamStripe(number, len(part), shard_bytes, blocks)


def _decode_parts(
    codec: Codec, stripes: Iterable[Any], object_bytes: int, stripe_bytes: int
) -> Iterator[bytearray]:
    count = -(-object_bytes // stripe_bytes)
    number = -1
    for number, stripe in enumerate(stripes):
        if number == count:
            raise InvalidArgumentError(f"stripes has more than {count} stripes; expected {count} "
                                       f"for an object of {object_bytes} bytes")
        blocks = stripe.blocks if isinstance(stripe, StreamStripe) else stripe
        blocks = _one_per_shard("blocks", blocks, codec._indices())
        yield _decode_part(
            codec, number, blocks, min(stripe_bytes, object_bytes - number * stripe_bytes))
    if number + 1 < count:
        raise InvalidArgumentError(f"stripes has {number + 1} stripes; expected {count} for an "
                                   f"object of {object_bytes} bytes")


def _decode_part(
    codec: Codec, number: int, blocks: list[Optional[Buffer]], data_bytes: int
) -> bytearray:
    content = bytearray(data_bytes)
    places = codec.split(content)
    wanted = []
    for index, place in enumerate(places):
        block = blocks[index]
        if block is not None:
            _copy_block(block, place, index, number)
        elif len(place) > 0:
            wanted.append(index)
    if not wanted:
        return content
    available = [index for index, block in enumerate(blocks)
                 if index not in wanted and (index < len(places) or block is not None)]
    try:
        plan = codec.plan_decode(available, wanted)
    except UnrecoverableError as error:
        lost = ", ".join(str(i) for i in codec._indices() if i not in available)
        raise UnrecoverableError(
            f"stripe {number} has lost the blocks of shards {lost}: {error}") from None
    codec.decode_object(plan, content, blocks[len(places):])
    return content
