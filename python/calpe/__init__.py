# SPDX-License-Identifier: Apache-2.0
"""Erasure coding for storage: k data shards get m parity shards, and any m may be lost.

>>> import calpe
>>> codec = calpe.Codec(10, 4)
>>> data = [bytes([i]) * 4096 for i in range(10)]
>>> parity = codec.encode(data)
>>> codec.verify(data, parity)
()

docs/python.md is the guide. `Codec` describes which objects can be shards.
"""
from ._add import add
from ._batches import Pending
from ._codec import Codec, Plan
from ._codes import (
    Backend,
    CodeProof,
    CodeSpec,
    PatternCount,
    Profile,
    backends,
    codes,
    count_recoverable,
    parity_rows,
    prove,
)
from ._durability import Durability, LossProbability, durability
from ._errors import (
    AmbiguousError,
    BackendUnavailableError,
    CompileFailedError,
    CorruptError,
    DeviceFailedError,
    Error,
    InvalidArgumentError,
    IoError,
    OutOfMemoryError,
    UnprovenError,
    UnrecoverableError,
)
from ._native import version as __version__
from ._options import THREADS_ALL
from ._prepared import PreparedPlan
from ._queues import QueuePlan
from ._streams import StreamBlock, StreamStripe

__all__ = [
    "AmbiguousError",
    "Backend",
    "BackendUnavailableError",
    "Codec",
    "CodeProof",
    "CodeSpec",
    "CompileFailedError",
    "CorruptError",
    "DeviceFailedError",
    "Durability",
    "Error",
    "InvalidArgumentError",
    "IoError",
    "LossProbability",
    "OutOfMemoryError",
    "PatternCount",
    "Pending",
    "Plan",
    "PreparedPlan",
    "Profile",
    "QueuePlan",
    "StreamBlock",
    "StreamStripe",
    "THREADS_ALL",
    "UnprovenError",
    "UnrecoverableError",
    "__version__",
    "add",
    "backends",
    "codes",
    "count_recoverable",
    "durability",
    "parity_rows",
    "prove",
]

# Show public names, such as calpe.Codec, in errors, pickles and help().
for _name in __all__:
    if callable(globals()[_name]):
        globals()[_name].__module__ = __name__
del _name
