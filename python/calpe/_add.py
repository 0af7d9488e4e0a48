# SPDX-License-Identifier: Apache-2.0
"""Sum of two buffers over the field."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from ._buffers import Buffer, WritableBuffer


def add(target: WritableBuffer, addend: Buffer) -> None:
    """Merges partial results: target ^= addend.

    >>> total = bytearray(b"abc")
    >>> add(total, b"ABC")
    >>> total
    bytearray(b'   ')
    """
    _native.add(target, addend)
