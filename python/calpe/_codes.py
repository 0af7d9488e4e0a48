# SPDX-License-Identifier: Apache-2.0
"""Code specs, profiles and proofs."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Optional

from . import _native

if TYPE_CHECKING:
    from ._buffers import Buffer


@dataclasses.dataclass(frozen=True)
class CodeSpec:
    """Everything that determines the parity bytes. Equal resolved specs give equal bytes.

    `Codec.spec` is resolved: every default is replaced by its value. `profile` is a name of
    `codes()`, or "custom" for your own matrix. `layout` is "bytes", "packets", or None for the
    profile's first layout.

    >>> CodeSpec(10, 4, profile="cauchy").parity_shards
    4
    """

    data_shards: int
    parity_shards: int
    profile: str = "default"
    layout: Optional[str] = None
    word_bits: int = 8
    polynomial: int = 0
    packet_bytes: int = 0
    local_groups: int = 0
    matrix_hash: int = 0

    def to_bytes(self) -> bytes:
        """Returns a resolved spec, `Codec.spec`, as 64 bytes to store with the shards.

        Equal specs give equal bytes. docs/codes.md ("Stored spec") has the format. The rows of a
        custom code are not included, only their hash.
        """
        return _native.spec_to_bytes(self)

    @classmethod
    def from_bytes(cls, data: Buffer) -> CodeSpec:
        """Reads `to_bytes()`. Raises `CorruptError` for all other bytes, and for a spec that this
        version does not know.

        >>> spec = Codec(10, 4).spec
        >>> CodeSpec.from_bytes(spec.to_bytes()) == spec
        True
        """
        return cls(**_native.spec_from_bytes(data))


@dataclasses.dataclass(frozen=True)
class Profile:
    """A named code family; docs/codes.md has the formula of each."""

    name: str
    layouts: tuple[str, ...]
    construction: str
    compatible: str


@dataclasses.dataclass(frozen=True)
class CodeProof:
    """Proof that every promised loss can be rebuilt, or a counterexample.

    `kind` is "cauchy", "minors", "pyramid", "refuted" or "undecided". Any loss of `losses` shards
    can be rebuilt. `dead_pattern` is a loss that cannot be rebuilt, if one is known.
    """

    kind: str
    proven: bool
    losses: int
    minors: int
    dead_pattern: tuple[int, ...]
    text: str


@dataclasses.dataclass(frozen=True)
class PatternCount:
    """Number of patterns of `losses` lost shards, and how many of them can be rebuilt."""

    losses: int
    patterns: int
    recoverable: int


@dataclasses.dataclass(frozen=True)
class Backend:
    """A backend; `reason` says why it is not available."""

    name: str
    description: str
    available: bool
    reason: str


def codes() -> list[Profile]:
    """Returns every profile, in the order of docs/codes.md.

    >>> [profile.name for profile in codes()][:3]
    ['default', 'cauchy', 'hybrid']
    """
    return [Profile(*fields) for fields in _native.profiles()]


def backends() -> list[Backend]:
    """Returns every backend of this build, including unavailable ones.

    >>> any(backend.name == "reference" and backend.available for backend in backends())
    True
    """
    return [Backend(*fields) for fields in _native.backends()]


def prove(spec: CodeSpec) -> CodeProof:
    """Proves or refutes a spec, also one that `Codec` would refuse.

    >>> prove(CodeSpec(10, 4)).losses
    4
    >>> prove(CodeSpec(10, 5, profile="vandermonde-isal")).dead_pattern
    (0, 3, 5, 12, 13)
    """
    return CodeProof(**_native.prove(spec))


def parity_rows(spec: CodeSpec) -> list[tuple[int, ...]]:
    """Returns the coefficients of the parity shards, one row per shard.

    >>> parity_rows(CodeSpec(4, 2, profile="raid6"))
    [(1, 1, 1, 1), (1, 2, 4, 8)]
    """
    return _native.parity_rows(spec)


def count_recoverable(spec: CodeSpec) -> list[PatternCount]:
    """Counts the patterns of 1..m losses that can be rebuilt, for codes that are not MDS.

    >>> count_recoverable(CodeSpec(4, 3, profile="lrc", local_groups=2))[-1]
    PatternCount(losses=3, patterns=35, recoverable=...)
    """
    return [PatternCount(*fields) for fields in _native.count_recoverable(spec)]
