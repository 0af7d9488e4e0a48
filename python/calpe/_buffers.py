# SPDX-License-Identifier: Apache-2.0
"""Types of shards, for type checkers. NumPy is not needed at run time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence, Union

if TYPE_CHECKING:
    import numpy
    from _typeshed import ReadableBuffer, WriteableBuffer

    _Array = numpy.ndarray[Any, Any]
    # Contiguous buffers: bytes, bytearray, memoryview, mmap, array, NumPy arrays, ...
    Buffer = Union[ReadableBuffer, _Array]
    # Writable ones, so not bytes.
    WritableBuffer = Union[WriteableBuffer, _Array]
    # One buffer per shard, or one buffer of two or more dimensions with a shard per row.
    Shards = Union[Iterable[Buffer], memoryview, _Array]
    WritableShards = Union[Sequence[WritableBuffer], memoryview, _Array]
