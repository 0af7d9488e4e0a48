# SPDX-License-Identifier: Apache-2.0
"""Options of a codec that affect speed, never the parity bytes; kept to pickle it."""
import dataclasses

THREADS_ALL = 2**32 - 1


@dataclasses.dataclass(frozen=True)
class CodecOptions:
    backend: str
    threads: int
    plan_cache_entries: int
    allow_unproven: bool
    effort: str
