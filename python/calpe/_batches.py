# SPDX-License-Identifier: Apache-2.0
"""Work of a codec on many stripes, at once or in the background."""
from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from . import _native

if TYPE_CHECKING:
    from ._buffers import Shards, WritableShards

Plan = _native.Plan
Pending = _native.Pending


class Batches:
    """The part of `Codec` for many stripes."""

    __slots__ = ()
    _native: _native.Codec

    def run_batch(
        self,
        plan: Plan,
        stripes: Iterable[tuple[Shards, WritableShards]],
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> None:
        """Applies a plan to many stripes in one call. Each stripe is (inputs, outputs).

        >>> codec = Codec(2, 1)
        >>> stripes = [([b"abc", b"ABC"], [bytearray(3)]), ([b"x", b"X"], [bytearray(1)])]
        >>> codec.run_batch(codec.plan_encode(), stripes)
        >>> stripes[0][1], stripes[1][1]
        ([bytearray(b'   ')], [bytearray(b' ')])
        """
        self._native.run_batch(plan, stripes, accumulate, stores)

    def submit(
        self,
        plan: Plan,
        stripes: Iterable[tuple[Shards, WritableShards]],
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> Pending:
        """Starts `run_batch` and returns before it is complete, if the codec has threads or a
        device; otherwise it is complete. Do not use the buffers before `wait` returns.

        >>> codec = Codec(2, 1, threads=2)
        >>> parity = [bytearray(3)]
        >>> pending = codec.submit(codec.plan_encode(), [([b"abc", b"ABC"], parity)])
        >>> pending.wait()
        >>> parity
        [bytearray(b'   ')]
        """
        return self._native.submit(plan, stripes, accumulate, stores)
