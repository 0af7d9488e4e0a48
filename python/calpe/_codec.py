# SPDX-License-Identifier: Apache-2.0
"""Encode, rebuild, update, verify and locate."""
from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Mapping, Optional, TypeVar, Union, overload

from . import _native, _streams
from ._batches import Batches
from ._codes import CodeProof, CodeSpec
from ._errors import InvalidArgumentError
from ._options import CodecOptions
from ._prepared import Prepares
from ._queues import Queues
from ._shard_lists import in_order, named_by_key, whole
from ._tags import Tags

if TYPE_CHECKING:
    from ._buffers import Buffer, Shards, WritableBuffer, WritableShards

Plan = _native.Plan
Outputs = TypeVar("Outputs", bound="WritableShards")


class Codec(Batches, Prepares, Queues, Tags):
    """An erasure code with k data and m parity shards; any m may be lost.

    `Codec(k, m)` uses the default profile. `profile`, `layout`, `word_bits`, `polynomial`,
    `packet_bytes`, `local_groups` and `matrix_hash` are the fields of `CodeSpec`; `Codec(spec)`
    takes them as one object. The other arguments affect speed, never the parity bytes:

    - `backend`: "auto" or a name of `backends()`; names joined by "+" split each job.
    - `threads`: number of threads; 1 is the calling thread, `THREADS_ALL` one per core.
    - `plan_cache_entries`: number of cached plans.
    - `effort`: "fast", "standard" or "thorough"; time spent optimising plans of layout packets.

    A shard is an object with a contiguous buffer: bytes, bytearray, memoryview, mmap, NumPy array,
    or a tensor in CPU memory with `__dlpack__`, such as PyTorch's. Several shards are a sequence of
    such objects, or one buffer of two or more dimensions whose rows are the shards. Nothing is
    copied. Outputs must be writable. Buffers are borrowed for the call and cannot be resized or
    freed meanwhile. A codec is immutable, and any number of threads may use it. Other Python
    threads run while it works.

    Creating a codec proves the code and compiles its encoder, so create it once and keep it.

    >>> codec = Codec(4, 2)
    >>> data = [bytes([i]) * 1000 for i in range(4)]
    >>> parity = codec.encode(data)
    >>> codec.rebuild([None, *data[1:], parity[0], None]) == [data[0], parity[1]]
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
                raise TypeError("a CodeSpec cannot be combined with its fields; change it with "
                                "dataclasses.replace()")
        elif parity_shards is None:
            raise TypeError("parity_shards is missing; expected Codec(k, m) or Codec(spec)")
        else:
            spec = CodeSpec(data_shards, parity_shards, profile, layout, word_bits, polynomial,
                            packet_bytes, local_groups, matrix_hash)
        options = CodecOptions(backend, threads, plan_cache_entries, False, effort)
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
        """Creates a codec from parity rows: m rows of k coefficients.

        Raises `UnprovenError` if some loss of m shards cannot be rebuilt, or if the matrix is too
        large to check, unless `allow_unproven` is set.

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
                f"rows have {sorted(widths)} coefficients; expected the same number in every row")
        spec = CodeSpec(widths.pop(), len(matrix), "custom", layout, word_bits, polynomial,
                        packet_bytes, 0, matrix_hash)
        options = CodecOptions(backend, threads, plan_cache_entries, allow_unproven, effort)
        made = cls.__new__(cls)
        made._make(spec, options, tuple(cell for row in matrix for cell in row))
        return made

    def _make(
        self, spec: CodeSpec, options: CodecOptions, matrix: Optional[tuple[int, ...]]
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
        """The resolved spec, the form to store with the shards.

        >>> Codec(10, 4).spec.profile
        'hybrid'
        """
        return CodeSpec(**self._native.spec())

    @property
    def proof(self) -> CodeProof:
        """Proof that every promised loss can be rebuilt."""
        return CodeProof(**self._native.proof())

    @property
    def backend(self) -> str:
        """Name of the device, such as "cpu:avx2"."""
        return self._native.backend()

    @property
    def threads(self) -> int:
        """Number of threads that share the work; 1 is the calling thread."""
        return self._native.threads()

    @property
    def runs_on_caller(self) -> bool:
        """True if the calling thread and the codec's threads do the work, as on the CPU; `submit`
        then returns before completion only if there are such threads."""
        return self._native.runs_on_caller()

    @property
    def shard_bytes_multiple(self) -> int:
        """Shard lengths must be a multiple of this: 1, except for Jerasure's packets."""
        return self._native.shard_bytes_multiple()

    def parity_bytes(self, shard_bytes: int) -> int:
        """Length of a parity shard for data shards of `shard_bytes`.

        Longer only with packets, and for odd lengths with word_bits 16.

        >>> Codec(4, 2, profile="cauchy", layout="packets").parity_bytes(1001)
        1008
        """
        return self._native.parity_bytes(shard_bytes)

    def codable_range(self, offset: int, count: int, shard_bytes: int) -> tuple[int, int]:
        """Returns the smallest (offset, bytes) around a range that can be coded alone.

        >>> Codec(4, 2).codable_range(5, 10, 1000)
        (5, 10)
        >>> packets = Codec(4, 2, profile="cauchy", layout="packets", packet_bytes=64)
        >>> packets.codable_range(5, 10, 1000)
        (0, 512)
        """
        return self._native.codable_range(offset, count, shard_bytes)

    def shard_bytes_for(self, object_bytes: int) -> int:
        """Shortest shard length for an object of this length; 0 for an empty object.

        >>> Codec(4, 2).shard_bytes_for(10)
        3
        """
        return self._native.shard_bytes_for(object_bytes)

    def split(self, content: Buffer, shard_bytes: Optional[int] = None) -> list[memoryview]:
        """Returns the k data shards of an object as views of its buffer, without copies.

        Data shard i is `content[i * shard_bytes : (i + 1) * shard_bytes]`. The last ones may be
        short or empty; their missing bytes count as zeros and need not be stored. `shard_bytes` is
        `shard_bytes_for(len(content))` by default. The views of a writable buffer are writable.

        >>> [bytes(shard) for shard in Codec(4, 2).split(b"0123456789")]
        [b'012', b'345', b'678', b'9']
        """
        return self._native.split(content, shard_bytes)

    def plan_encode(self) -> Plan:
        """Returns the plan that reads all data shards and writes all parity shards."""
        return self._native.plan_encode()

    def plan_decode(
        self,
        available: Iterable[int],
        wanted: Iterable[int],
        costs: Optional[Iterable[int]] = None,
    ) -> Plan:
        """Returns a plan that writes `wanted` from the cheapest sufficient part of `available`.

        `costs[i]` is the cost of reading `available[i]`; by default all are equal. `plan.writes`
        is `wanted` in the given order, and `plan.reads` is ascending. Duplicate indices are
        refused.

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
        """Returns a plan that reads the change (old XOR new) of one data shard and writes the
        change of the given parity shards, or of all. Use it with `run(accumulate=True)`.
        `plan.writes` is `parity` in the given order.
        """
        return self._native.plan_update(data_index, parity)

    def plan_partial(self, plan: Plan, held: Iterable[int]) -> Plan:
        """Returns the part of a plan that the holder of some of its reads can compute alone. The
        XOR of the results of all parts is the result of the plan.

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

        `stores` is a cache hint for outputs: "cached", "streaming" (bypass the caches) or
        "automatic".

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
        """Rebuilds the shards `plan.writes` and returns them. `survivors` holds the shards of
        `plan.reads` in that order, or maps indices to shards.

        >>> codec = Codec(2, 1)
        >>> plan = codec.plan_decode([0, 2], wanted=[1])
        >>> codec.decode(plan, {0: b"abc", 2: b"   "})
        [bytearray(b'ABC')]
        """
        with named_by_key("survivors", survivors, plan.reads):
            return self._native.decode(  # type: ignore[no-any-return]
                plan, in_order(plan, survivors), rebuilt, stores)

    @overload
    def encode_object(
        self,
        content: Buffer,
        parity: None = None,
        *,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> list[bytearray]: ...

    @overload
    def encode_object(
        self,
        content: Buffer,
        parity: Outputs,
        *,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> Outputs: ...

    def encode_object(
        self,
        content: Buffer,
        parity: Optional[Outputs] = None,
        *,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> Union[Outputs, list[bytearray]]:
        """Writes all m parity shards of an object, one buffer of any length, and returns them.
        `split` shows its data shards.

        >>> Codec(2, 1).encode_object(b"abcAB")
        [bytearray(b'  c')]
        """
        return self._native.encode_object(  # type: ignore[no-any-return]
            content, shard_bytes, parity, stores)

    def decode_object(
        self,
        plan: Plan,
        content: WritableBuffer,
        parity: Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]],
        *,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> None:
        """Rebuilds lost data shards in their place in an object.

        `plan` writes data shards only. The data shards that it reads are already in `content`.
        `parity` has m entries, with None for a missing shard, or maps indices k..k+m-1 to shards.

        >>> codec = Codec(4, 2)
        >>> parity = codec.encode_object(b"0123456789")
        >>> content = bytearray(b"012???678?")
        >>> codec.decode_object(codec.plan_decode([0, 2, 4, 5], [1, 3]), content, parity)
        >>> content
        bytearray(b'0123456789')
        """
        spec = self.spec
        indices = range(spec.data_shards, spec.data_shards + spec.parity_shards)
        with named_by_key("parity", parity, indices):
            self._native.decode_object(
                plan, content, shard_bytes, whole("parity", parity, indices), stores)

    @overload
    def rebuild(
        self,
        shards: Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]],
        rebuilt: None = None,
        *,
        data_only: bool = False,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> list[bytearray]: ...

    @overload
    def rebuild(
        self,
        shards: Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]],
        rebuilt: Outputs,
        *,
        data_only: bool = False,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> Outputs: ...

    def rebuild(
        self,
        shards: Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]],
        rebuilt: Optional[Outputs] = None,
        *,
        data_only: bool = False,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> Union[Outputs, list[bytearray]]:
        """Rebuilds the missing shards and returns them in ascending order.

        `shards` has all k+m entries, with None for a missing shard, or maps indices to shards.
        `rebuilt` has a writable buffer per missing shard. With `data_only`, missing parity shards
        are left out. Repeated losses cost no planning. `shard_bytes` is the length of a data shard.
        It is needed only in layout packets or with word_bits 16, if no data shard is present.

        Raises `UnrecoverableError` if too many shards are missing.

        >>> codec = Codec(2, 2)
        >>> data = [b"abc", b"ABC"]
        >>> parity = codec.encode(data)
        >>> codec.rebuild([None, data[1], parity[0], None]) == [data[0], parity[1]]
        True
        >>> codec.rebuild({1: data[1], 2: parity[0]}, data_only=True)
        [bytearray(b'abc')]
        """
        return self._native.rebuild(  # type: ignore[no-any-return]
            whole("shards", shards, self._indices()), rebuilt, data_only, shard_bytes, stores)

    def rebuild_batch(
        self,
        stripes: Iterable[Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]]],
        *,
        data_only: bool = False,
        shard_bytes: Optional[int] = None,
        stores: str = "automatic",
    ) -> list[list[bytearray]]:
        """Rebuilds many stripes that lost the same shards, in one call. Returns one list per
        stripe, as `rebuild` does. The stripes may differ in length.

        >>> Codec(2, 1).rebuild_batch([[None, b"ABC", b"   "], [None, b"X", b" "]])
        [[bytearray(b'abc')], [bytearray(b'x')]]
        """
        indices = self._indices()
        lists = [whole(f"stripes[{number}]", stripe, indices)
                 for number, stripe in enumerate(stripes)]
        return self._native.rebuild_batch(lists, data_only, shard_bytes, stores)

    def _indices(self) -> range:
        spec = self.spec
        return range(spec.data_shards + spec.parity_shards)

    encode_stream = _streams.encode_stream
    decode_stream = _streams.decode_stream
    encode_stripes = _streams.encode_stripes
    decode_stripes = _streams.decode_stripes

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
        """Applies a plan: `inputs[i]` is shard `plan.reads[i]`, `outputs[i]` receives shard
        `plan.writes[i]`. With `accumulate` the result is XORed into the outputs.
        """
        return self._native.run(  # type: ignore[no-any-return]
            plan, inputs, outputs, accumulate, stores)

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
        """Updates parity after bytes of one data shard changed, starting at `offset`: from `old`
        to `new`, or by `delta` (old XOR new).

        `parity` holds the whole parity shards of `parity_indices`, or all of them, and is changed
        in place. `shard_bytes` is the length of the data shard; layout bytes does not need it.

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
        """Returns the indices of parity shards that do not match the data.

        >>> Codec(2, 1).verify([b"abc", b"ABC"], [b"  !"])
        (2,)
        """
        return self._native.verify(data, parity)

    def locate(
        self, shards: Iterable[Optional[Buffer]], missing: Iterable[int] = ()
    ) -> tuple[int, ...]:
        """Returns the indices of shards that hold wrong bytes. `shards` has all k+m entries, with
        None for a missing shard.

        Exact while 2 * wrong + missing <= m (lrc and unproven codes: <= `proof.losses`). Beyond
        that it raises `AmbiguousError`, unless the damage looks exactly like lighter damage
        elsewhere. Two kinds of codes give up with it earlier: those whose `proof.kind`
        is not "cauchy" after a million sets of suspects in one column (3 wrong of up to 180 shards
        are always found, 4 of up to 70), codes of more than 256 shards beyond 16 wrong shards in
        one column. Raises `UnrecoverableError` if m or more shards are missing, because then no
        redundancy is left to check the others.

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
        """Returns a plan (default: the encoder) as XOR equations over w parts of every shard.

        `style` is "direct" (one equation per output), "iterative" (shares common pairs) or
        "optimised" (fewest XORs found within `budget`: "fast", "standard" or "thorough").
        `target` is "text", or a language to generate: "c", "openmp", "opencl", "cuda", "ptx" or
        "hip";
        `name` names the generated function. docs/equations.md explains the text.

        >>> codec = Codec(3, 1, profile="hybrid", layout="packets", word_bits=2)
        >>> print(codec.equations(), end="")
        u6 = XOR(u0,u2,u4)
        u7 = XOR(u1,u3,u5)
        """
        chosen = self.plan_encode() if plan is None else plan
        return _native.equations(self._native, chosen, (style, budget, seed, target, name))


def _unpickle(spec: CodeSpec, options: CodecOptions, matrix: Optional[tuple[int, ...]]) -> Codec:
    codec = Codec.__new__(Codec)
    codec._make(spec, options, matrix)
    return codec
