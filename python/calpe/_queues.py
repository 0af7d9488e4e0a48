# SPDX-License-Identifier: Apache-2.0
"""Plans in a CUDA stream or OpenCL queue of the caller."""
from __future__ import annotations

from ._native import Codec as NativeCodec
from ._native import Plan
from ._native import QueuePlan as QueuePlan
from ._native import native_context
from ._native import prepare_queue as native_prepare_queue


class Queues:
    """The part of Codec that works in queues of the caller."""

    __slots__ = ()
    _native: NativeCodec

    def prepare_queue(
        self, plan: Plan, shard_bytes: int, *, accumulate: bool = False
    ) -> QueuePlan:
        """Prepares a plan for a CUDA stream or OpenCL queue of yours, and compiles its kernel.

        Needs a codec on one CUDA or OpenCL device, and all shards in its memory.

        >>> import calpe
        >>> codec = calpe.Codec(2, 1, backend="cpu")
        >>> codec.prepare_queue(codec.plan_encode(), 4096)
        Traceback (most recent call last):
        calpe.InvalidArgumentError: codec runs on ..., which takes no stream or queue of ...
        """
        return native_prepare_queue(self._native, plan, shard_bytes, accumulate)

    def native_context(self) -> int:
        """The CUcontext or cl_context of the codec, of which the stream or queue must be; 0 on the
        CPU."""
        return native_context(self._native)
