# SPDX-License-Identifier: Apache-2.0
"""Codes: what a spec says, which profiles there are, what they can rebuild."""
from __future__ import annotations

import dataclasses
from typing import Optional

from . import _native


@dataclasses.dataclass(frozen=True)
class CodeSpec:
    """All that decides the parity bytes: equal resolved specs give equal bytes everywhere.

    `Codec.spec` is resolved, that is without anything left to a default. `profile` is a name of
    `codes()`, or "custom" for a matrix of one's own; `layout` is "bytes", "packets", or None for
    the profile's first.

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


@dataclasses.dataclass(frozen=True)
class Profile:
    """A named family of codes; docs/codes.md has the formula of each."""

    name: str
    layouts: tuple[str, ...]
    construction: str
    compatible: str


@dataclasses.dataclass(frozen=True)
class CodeProof:
    """Why every promised loss can be rebuilt, or a loss that cannot.

    `kind` is "cauchy", "minors", "pyramid", "refuted" or "undecided". Any `losses` lost shards can
    be rebuilt; `dead_pattern` is a loss that cannot, where one is known.
    """

    kind: str
    proven: bool
    losses: int
    minors: int
    dead_pattern: tuple[int, ...]
    text: str


@dataclasses.dataclass(frozen=True)
class PatternCount:
    """Of all patterns of so many `losses`, how many there are and how many can be rebuilt."""

    losses: int
    patterns: int
    recoverable: int


@dataclasses.dataclass(frozen=True)
class Backend:
    """A way to run programs; `reason` says why it is not available."""

    name: str
    description: str
    available: bool
    reason: str


def codes() -> list[Profile]:
    """Every profile, in the order of docs/codes.md.

    >>> [profile.name for profile in codes()][:3]
    ['default', 'cauchy', 'hybrid']
    """
    return [Profile(*fields) for fields in _native.profiles()]


def backends() -> list[Backend]:
    """Every backend of this build, usable or not.

    >>> any(backend.name == "reference" and backend.available for backend in backends())
    True
    """
    return [Backend(*fields) for fields in _native.backends()]


def prove(spec: CodeSpec) -> CodeProof:
    """Proof or counterexample for a spec, whether or not a codec would accept it.

    >>> prove(CodeSpec(10, 4)).losses
    4
    >>> prove(CodeSpec(10, 5, profile="vandermonde-isal")).dead_pattern
    (0, 3, 5, 12, 13)
    """
    return CodeProof(**_native.prove(spec))


def parity_rows(spec: CodeSpec) -> list[tuple[int, ...]]:
    """The coefficients that make parity from data, one row per parity shard.

    >>> parity_rows(CodeSpec(4, 2, profile="raid6"))
    [(1, 1, 1, 1), (1, 2, 4, 8)]
    """
    return _native.parity_rows(spec)


def count_recoverable(spec: CodeSpec) -> list[PatternCount]:
    """How many patterns of 1..m losses can be rebuilt; for codes that are not MDS.

    >>> count_recoverable(CodeSpec(4, 3, profile="lrc", local_groups=2))[-1]
    PatternCount(losses=3, patterns=35, recoverable=...)
    """
    return [PatternCount(*fields) for fields in _native.count_recoverable(spec)]
