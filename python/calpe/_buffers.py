# SPDX-License-Identifier: Apache-2.0
"""What is taken as a shard, for type checkers; NumPy is not needed to run."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence, Union

if TYPE_CHECKING:
    import numpy
    from _typeshed import ReadableBuffer, WriteableBuffer

    _Array = numpy.ndarray[Any, Any]
    # bytes, bytearray, memoryview, mmap, array, NumPy arrays, ...: contiguous.
    Buffer = Union[ReadableBuffer, _Array]
    # The same without bytes and whatever else is read-only.
    WritableBuffer = Union[WriteableBuffer, _Array]
    # One buffer per shard, or one of two or more dimensions whose rows are the shards.
    Shards = Union[Iterable[Buffer], memoryview, _Array]
    WritableShards = Union[Sequence[WritableBuffer], memoryview, _Array]
