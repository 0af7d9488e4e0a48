# SPDX-License-Identifier: Apache-2.0
"""Types of shards, for type checkers. NumPy is not needed at run time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Protocol, Sequence, Union

if TYPE_CHECKING:
    import numpy
    from _typeshed import ReadableBuffer, WriteableBuffer

    class _Tensor(Protocol):
        """A tensor in CPU memory, such as PyTorch's."""

        def __dlpack__(self, *arguments: Any, **named: Any) -> Any: ...

        def __dlpack_device__(self) -> Any: ...

    _Array = numpy.ndarray[Any, Any]
    # Contiguous buffers: bytes, bytearray, memoryview, mmap, array, NumPy arrays, tensors, ...
    Buffer = Union[ReadableBuffer, _Array, _Tensor]
    # Writable ones, so not bytes.
    WritableBuffer = Union[WriteableBuffer, _Array, _Tensor]
    # One buffer per shard, or one buffer of two or more dimensions with a shard per row.
    Shards = Union[Iterable[Buffer], memoryview, _Array, _Tensor]
    WritableShards = Union[Sequence[WritableBuffer], memoryview, _Array, _Tensor]
