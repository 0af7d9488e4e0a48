# SPDX-License-Identifier: Apache-2.0
"""Prepared plans: many small stripes of one length in one call."""
from __future__ import annotations

from ._native import Codec as NativeCodec
from ._native import Plan
from ._native import PreparedPlan as PreparedPlan
from ._native import prepare as native_prepare


class Prepares:
    """The part of Codec that prepares plans."""

    __slots__ = ()
    _native: NativeCodec

    def prepare(
        self,
        plan: Plan,
        shard_bytes: int,
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> PreparedPlan:
        """Prepares a plan for many small stripes of one length, which then lie one after the
        other in one buffer.

        >>> import calpe
        >>> codec = calpe.Codec(2, 1)
        >>> prepared = codec.prepare(codec.plan_encode(), 3)
        >>> prepared.run(b"abcABC" b"xyzXYZ")
        bytearray(b'      ')
        """
        return native_prepare(self._native, plan, shard_bytes, accumulate, stores)
