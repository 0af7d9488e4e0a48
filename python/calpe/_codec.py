# SPDX-License-Identifier: Apache-2.0
"""Encode, rebuild, update, verify and locate."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Iterable, Mapping, Optional, TypeVar, Union, overload

from . import _native
from ._codes import CodeProof, CodeSpec
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._buffers import Buffer, Shards, WritableBuffer, WritableShards

Plan = _native.Plan
Outputs = TypeVar("Outputs", bound="WritableShards")

THREADS_ALL = 2**32 - 1


@dataclasses.dataclass(frozen=True)
class _Options:
    backend: str
    threads: int
    plan_cache_entries: int
    allow_unproven: bool
    effort: str


class Codec:
    """k data shards become k+m; any m may be lost.

    `Codec(k, m)` has the default profile; `profile`, `layout`, `word_bits`, `polynomial`,
    `packet_bytes`, `local_groups` and `matrix_hash` are the fields of `CodeSpec`, which
    `Codec(spec)` takes as one. What remains changes speed, never bytes: `backend` is "auto" or a
    name of `backends()`, several joined by "+"; `threads` is the number that work is spread over,
    `THREADS_ALL` for every core (1: the caller's own); `effort` is "fast", "standard" or
    "thorough", how long a plan of layout packets may be searched for.

    Shards are objects with a contiguous buffer: bytes, bytearray, memoryview, mmap, NumPy arrays.
    Where several are asked for, a sequence of them is taken, or one buffer of two or more
    dimensions whose rows are the shards. Nothing is copied. What is written must be writable, and
    is borrowed for the call: it can be neither resized nor freed meanwhile. A codec is immutable,
    and may be used by any number of threads; other Python threads run while it works.

    Making one proves the code and compiles its encoder: make it once, keep it.

    >>> codec = Codec(4, 2)
    >>> data = [bytes([i]) * 1000 for i in range(4)]
    >>> parity = codec.encode(data)
    >>> shards = dict(enumerate([*data, *parity]))
    >>> del shards[0], shards[5]
    >>> plan = codec.plan_decode(shards, [0])
    >>> codec.decode(plan, shards) == [data[0]]
    True
    """

    __slots__ = ("_native", "_options", "_matrix", "__weakref__")

    def __init__(
        self,
        data_shards: Union[int, CodeSpec],
        parity_shards: Optional[int] = None,
        *,
        profile: str = "default",
        layout: Optional[str] = None,
        word_bits: int = 8,
        polynomial: int = 0,
        packet_bytes: int = 0,
        local_groups: int = 0,
        matrix_hash: int = 0,
        backend: str = "auto",
        threads: int = 1,
        plan_cache_entries: int = 1024,
        effort: str = "fast",
    ) -> None:
        if isinstance(data_shards, CodeSpec):
            spec = data_shards
            asked = (parity_shards, profile, layout, word_bits, polynomial, packet_bytes,
                     local_groups, matrix_hash)
            if asked != (None, "default", None, 8, 0, 0, 0, 0):
                raise TypeError("a CodeSpec says all about the code: change it with "
                                "dataclasses.replace() instead of giving its fields again")
        elif parity_shards is None:
            raise TypeError("parity_shards is missing: expected Codec(k, m) or Codec(spec)")
        else:
            spec = CodeSpec(data_shards, parity_shards, profile, layout, word_bits, polynomial,
                            packet_bytes, local_groups, matrix_hash)
        options = _Options(backend, threads, plan_cache_entries, False, effort)
        self._make(spec, options, None)

    @classmethod
    def from_matrix(
        cls,
        rows: Iterable[Iterable[int]],
        *,
        layout: str = "bytes",
        word_bits: int = 8,
        polynomial: int = 0,
        packet_bytes: int = 0,
        matrix_hash: int = 0,
        backend: str = "auto",
        threads: int = 1,
        plan_cache_entries: int = 1024,
        effort: str = "fast",
        allow_unproven: bool = False,
    ) -> Codec:
        """A codec for parity rows of one's own: m rows of k coefficients.

        Fails with `UnprovenError` when some loss of m shards cannot be rebuilt, or when nothing
        shows that all can, unless `allow_unproven`.

        >>> Codec.from_matrix([[1, 1, 1], [1, 2, 4]]).spec.data_shards
        3
        >>> Codec.from_matrix([[1, 1, 1], [1, 1, 4]])
        Traceback (most recent call last):
          ...
        calpe.UnprovenError: ...
        """
        matrix = [tuple(row) for row in rows]
        widths = {len(row) for row in matrix}
        if len(widths) != 1:
            raise InvalidArgumentError(
                f"rows have {sorted(widths)} coefficients, expected all as many as data shards")
        spec = CodeSpec(widths.pop(), len(matrix), "custom", layout, word_bits, polynomial,
                        packet_bytes, 0, matrix_hash)
        options = _Options(backend, threads, plan_cache_entries, allow_unproven, effort)
        made = cls.__new__(cls)
        made._make(spec, options, tuple(cell for row in matrix for cell in row))
        return made

    def _make(
        self, spec: CodeSpec, options: _Options, matrix: Optional[tuple[int, ...]]
    ) -> None:
        self._native = _native.Codec(spec, options, matrix)
        self._options = options
        self._matrix = matrix

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickle, (self.spec, self._options, self._matrix)

    def __repr__(self) -> str:
        spec = self.spec
        return (f"<calpe.Codec: {spec.profile} {spec.data_shards}+{spec.parity_shards}, "
                f"{spec.layout}, {self.backend}>")

    @property
    def spec(self) -> CodeSpec:
        """The resolved spec, to be kept beside the shards.

        >>> Codec(10, 4).spec.profile
        'hybrid'
        """
        return CodeSpec(**self._native.spec())

    @property
    def proof(self) -> CodeProof:
        """Why every promised loss can be rebuilt."""
        return CodeProof(**self._native.proof())

    @property
    def backend(self) -> str:
        """The device, such as "cpu:avx2"."""
        return self._native.backend()

    @property
    def threads(self) -> int:
        """Threads that work is spread over; 1 is the caller's own."""
        return self._native.threads()

    @property
    def runs_on_caller(self) -> bool:
        """True when the caller's thread, and the codec's own, do the work, as on the CPU."""
        return self._native.runs_on_caller()

    @property
    def shard_bytes_multiple(self) -> int:
        """Lengths of shards must be a multiple of this: 1, but for Jerasure's packets."""
        return self._native.shard_bytes_multiple()

    def parity_bytes(self, shard_bytes: int) -> int:
        """Bytes of a parity shard for data shards of `shard_bytes`; more only with packets.

        >>> Codec(4, 2, profile="cauchy", layout="packets").parity_bytes(1001)
        1008
        """
        return self._native.parity_bytes(shard_bytes)

    def codable_range(self, offset: int, count: int, shard_bytes: int) -> tuple[int, int]:
        """The smallest (offset, bytes) around a range that can be coded on its own.

        >>> Codec(4, 2).codable_range(5, 10, 1000)
        (5, 10)
        >>> packets = Codec(4, 2, profile="cauchy", layout="packets", packet_bytes=64)
        >>> packets.codable_range(5, 10, 1000)
        (0, 512)
        """
        return self._native.codable_range(offset, count, shard_bytes)

    def plan_encode(self) -> Plan:
        """Reads all data shards, writes all parity shards."""
        return self._native.plan_encode()

    def plan_decode(
        self,
        available: Iterable[int],
        wanted: Iterable[int],
        costs: Optional[Iterable[int]] = None,
    ) -> Plan:
        """Writes `wanted` from the cheapest sufficient part of `available`, with `costs[i]` for
        `available[i]`; without them all cost the same. `plan.writes` is `wanted` in the order
        given; `plan.reads` is ascending. A shard that is named twice is refused.

        >>> plan = Codec(4, 2).plan_decode([0, 2, 4, 5], [3, 1])
        >>> plan.reads, plan.writes
        ((0, 2, 4, 5), (3, 1))
        >>> Codec(4, 2).plan_decode([1, 2, 3], [0])
        Traceback (most recent call last):
          ...
        calpe.UnrecoverableError: ...
        """
        return self._native.plan_decode(available, wanted, costs)

    def plan_update(self, data_index: int, parity: Iterable[int] = ()) -> Plan:
        """Reads the change (old xor new) of one data shard, writes what is to be added to the given
        parity shards, or to all; `run` it with `accumulate`. `plan.writes` is `parity` in the
        order given.
        """
        return self._native.plan_update(data_index, parity)

    def plan_partial(self, plan: Plan, held: Iterable[int]) -> Plan:
        """The share of a plan that the holder of some of its reads can compute alone; the shares'
        results, added up, are the plan's.

        >>> codec = Codec(4, 2)
        >>> codec.plan_partial(codec.plan_encode(), [0, 1]).reads
        (0, 1)
        """
        return self._native.plan_partial(plan, held)

    @overload
    def encode(
        self, data: Shards, parity: None = None, *, stores: str = "automatic"
    ) -> list[bytearray]: ...

    @overload
    def encode(self, data: Shards, parity: Outputs, *, stores: str = "automatic") -> Outputs: ...

    def encode(
        self, data: Shards, parity: Optional[Outputs] = None, *, stores: str = "automatic"
    ) -> Union[Outputs, list[bytearray]]:
        """Writes all m parity shards from all k data shards, and returns them.

        `stores` is where outputs go: "cached", "streaming" (past the caches) or "automatic".

        >>> Codec(2, 1).encode([b"abc", b"ABC"])
        [bytearray(b'   ')]
        >>> parity = [bytearray(3)]
        >>> Codec(2, 1).encode([b"abc", b"ABC"], parity) is parity
        True
        """
        return self._native.encode(data, parity, stores)  # type: ignore[no-any-return]

    @overload
    def decode(
        self,
        plan: Plan,
        survivors: Union[Shards, Mapping[int, Buffer]],
        rebuilt: None = None,
        *,
        stores: str = "automatic",
    ) -> list[bytearray]: ...

    @overload
    def decode(
        self,
        plan: Plan,
        survivors: Union[Shards, Mapping[int, Buffer]],
        rebuilt: Outputs,
        *,
        stores: str = "automatic",
    ) -> Outputs: ...

    def decode(
        self,
        plan: Plan,
        survivors: Union[Shards, Mapping[int, Buffer]],
        rebuilt: Optional[Outputs] = None,
        *,
        stores: str = "automatic",
    ) -> Union[Outputs, list[bytearray]]:
        """Writes `plan.writes` and returns them. `survivors` are the shards of `plan.reads` in that
        order, or a mapping from index to shard, of which those are taken.

        >>> codec = Codec(2, 1)
        >>> plan = codec.plan_decode([0, 2], wanted=[1])
        >>> codec.decode(plan, {0: b"abc", 2: b"   "})
        [bytearray(b'ABC')]
        """
        return self.run(plan, _in_order(plan, survivors), rebuilt, stores=stores)

    @overload
    def run(
        self,
        plan: Plan,
        inputs: Shards,
        outputs: None = None,
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> list[bytearray]: ...

    @overload
    def run(
        self,
        plan: Plan,
        inputs: Shards,
        outputs: Optional[Outputs],
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> Union[Outputs, list[bytearray]]: ...

    def run(
        self,
        plan: Plan,
        inputs: Shards,
        outputs: Optional[Outputs] = None,
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> Union[Outputs, list[bytearray]]:
        """Any plan: `inputs[i]` is shard `plan.reads[i]`, `outputs[i]` receives `plan.writes[i]`.
        With `accumulate` the result is added to the outputs instead of overwriting them.
        """
        return self._native.run(  # type: ignore[no-any-return]
            plan, inputs, outputs, accumulate, stores)

    def run_batch(
        self,
        plan: Plan,
        stripes: Iterable[tuple[Shards, WritableShards]],
        *,
        accumulate: bool = False,
        stores: str = "automatic",
    ) -> None:
        """`run` over many stripes, (inputs, outputs) each, in one call.

        >>> codec = Codec(2, 1)
        >>> stripes = [([b"abc", b"ABC"], [bytearray(3)]), ([b"x", b"X"], [bytearray(1)])]
        >>> codec.run_batch(codec.plan_encode(), stripes)
        >>> stripes[0][1], stripes[1][1]
        ([bytearray(b'   ')], [bytearray(b' ')])
        """
        self._native.run_batch(plan, stripes, accumulate, stores)

    def update(
        self,
        data_index: int,
        parity: WritableShards,
        *,
        delta: Optional[Buffer] = None,
        old: Optional[Buffer] = None,
        new: Optional[Buffer] = None,
        offset: int = 0,
        shard_bytes: Optional[int] = None,
        parity_indices: Iterable[int] = (),
    ) -> None:
        """Brings parity up to date after bytes from `offset` on of one data shard changed: from
        `old` to `new`, or by `delta`, old xor new.

        `parity` are whole parity shards, those of `parity_indices` or all, and are changed in
        place. `shard_bytes` is the length of the data shard; with layout bytes it is that of
        parity, and may be left out.

        >>> codec = Codec(2, 1)
        >>> parity = codec.encode([b"abc", b"ABC"])
        >>> codec.update(1, parity, old=b"C", new=b"D", offset=2)
        >>> parity == codec.encode([b"abc", b"ABD"])
        True
        """
        if (delta is None) == (old is None or new is None):
            raise TypeError("expected delta, or old and new")
        change = (data_index, offset, shard_bytes, parity_indices)
        if delta is not None:
            self._native.update(change, delta, None, parity)
        elif old is not None:
            self._native.update(change, old, new, parity)

    def verify(self, data: Shards, parity: Shards) -> tuple[int, ...]:
        """Indices of the parity shards that do not match the data; none when the stripe is sound.

        >>> Codec(2, 1).verify([b"abc", b"ABC"], [b"  !"])
        (2,)
        """
        return self._native.verify(data, parity)

    def locate(
        self, shards: Iterable[Optional[Buffer]], missing: Iterable[int] = ()
    ) -> tuple[int, ...]:
        """Indices of the shards that hold wrong bytes. `shards` are all k+m, None where one is
        missing.

        Exact while 2 * wrong + missing <= m (lrc and unproven codes: <= `proof.losses`); beyond
        that it fails with `AmbiguousError` and names nobody, unless the damage looks exactly like
        lighter damage elsewhere. With m or more missing nothing is left to check the others with:
        `UnrecoverableError`.

        >>> codec = Codec(4, 2)
        >>> shards = [b"lock", b"rock", b"sock", b"dock"]
        >>> shards += codec.encode(shards)
        >>> shards[1] = b"rack"
        >>> codec.locate(shards)
        (1,)
        """
        return self._native.locate(shards, missing)

    def equations(
        self,
        plan: Optional[Plan] = None,
        *,
        style: str = "direct",
        budget: str = "standard",
        seed: int = 1,
        target: str = "text",
        name: str = "calpe_xor",
    ) -> str:
        """A plan, by default the encoder, as XOR equations over w parts of every shard.

        `style` is "direct" (one equation per output), "iterative" (common pairs shared) or
        "optimised" (the fewest XORs that `budget`, "fast", "standard" or "thorough", finds).
        `target` is "text", or what is to be emitted: "c", "openmp", "opencl", "cuda", "ptx", with
        `name` for the function. docs/equations.md explains the text.

        >>> codec = Codec(3, 1, profile="hybrid", layout="packets", word_bits=2)
        >>> print(codec.equations(), end="")
        u6 = XOR(u0,u2,u4)
        u7 = XOR(u1,u3,u5)
        """
        chosen = self.plan_encode() if plan is None else plan
        return _native.equations(self._native, chosen, (style, budget, seed, target, name))


def add(target: WritableBuffer, addend: Buffer) -> None:
    """target ^= addend: merges partial sums that were computed elsewhere.

    >>> total = bytearray(b"abc")
    >>> add(total, b"ABC")
    >>> total
    bytearray(b'   ')
    """
    _native.add(target, addend)


def _in_order(plan: Plan, survivors: Union[Shards, Mapping[int, Buffer]]) -> Shards:
    if not isinstance(survivors, Mapping):
        return survivors
    gone = [index for index in plan.reads if index not in survivors]
    if gone:
        raise InvalidArgumentError(f"survivors has no shard {gone[0]}, which the plan reads")
    return [survivors[index] for index in plan.reads]


def _unpickle(spec: CodeSpec, options: _Options, matrix: Optional[tuple[int, ...]]) -> Codec:
    codec = Codec.__new__(Codec)
    codec._make(spec, options, matrix)
    return codec
