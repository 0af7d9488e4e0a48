# SPDX-License-Identifier: Apache-2.0
"""Turns mappings from index to shard into the lists that the native module takes."""
from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Optional, Sequence, Union

from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from . import _native
    from ._buffers import Buffer, Shards


def in_order(plan: _native.Plan, survivors: Union[Shards, Mapping[int, Buffer]]) -> Shards:
    """The shards that the plan reads, in its order."""
    if not isinstance(survivors, Mapping):
        return survivors
    gone = [index for index in plan.reads if index not in survivors]
    if gone:
        raise InvalidArgumentError(f"survivors has no shard {gone[0]}, which the plan reads")
    return [survivors[index] for index in plan.reads]


@contextlib.contextmanager
def named_by_key(operand: str, shards: object, keys: Sequence[int]) -> Iterator[None]:
    """Errors name a shard of a mapping by its key, not by its position in the list made of it."""
    try:
        yield
    except (InvalidArgumentError, TypeError) as error:
        if not isinstance(shards, Mapping):
            raise
        raise type(error)(re.sub(rf"\b{operand}\[(\d+)\]",
                                 lambda found: f"{operand}[{keys[int(found[1])]}]",
                                 str(error))) from None


def whole(
    operand: str, shards: Union[Iterable[Optional[Buffer]], Mapping[int, Buffer]], indices: range
) -> Iterable[Optional[Buffer]]:
    """The shards with these indices; None for each that is not in the mapping."""
    if not isinstance(shards, Mapping):
        return shards
    strangers = [index for index in shards if index not in indices]
    if strangers:
        raise InvalidArgumentError(f"{operand} has index {strangers[0]!r}; expected "
                                   f"an int from {indices.start} to {indices.stop - 1}")
    return [shards.get(index) for index in indices]
